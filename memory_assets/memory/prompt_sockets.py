"""What a server says with hooks that recall at each prompt; standard library only."""

from memory_assets.stages.deliver.prompts import FOLDER, SHOWN, SUFFIX
