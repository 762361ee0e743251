"""The words with which a server and the hooks that recall at each prompt talk over a socket.

Imports only the standard library.
"""

from memory_assets.stages.deliver.prompts import FOLDER, SHOWN, SUFFIX
