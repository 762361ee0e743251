"""The sockets on which a process with everything loaded answers others; standard library only."""

from memory_assets.stages.deliver.prompts import FOLDER as PROMPTS_FOLDER
from memory_assets.stages.deliver.prompts import SHOWN
from memory_assets.store.sockets import (
    HAS_SOCKETS,
    SERVICE,
    ask,
    is_same_user,
    listen,
    receive,
    send,
)
