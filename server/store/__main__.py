"""`python -m server.store backup FILE` and `restore FILE`: all that the store of the settings holds, in one file."""

import argparse
import sys
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from server.settings import BadSetting, Settings
from server.store import StoreDown
from server.store.archive import Refused, backup, restore
from server.store.database import database


def main() -> None:
    """Do it and say what was done; a sentence and status 1 when it could not be."""
    parser = argparse.ArgumentParser(prog="python -m server.store", description="Back up or restore the store.")
    parser.add_argument("verb", choices=("backup", "restore"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--overwrite", action="store_true", help="replace the file, or what the store holds")
    options = parser.parse_args()
    try:
        settings = Settings.from_environment()
        tables = database(settings.store, settings.data_dir)
        if options.verb == "backup":
            print(f"{backup(tables, options.file, overwrite=options.overwrite)} are in {options.file}")
        else:
            print(f"the store holds {restore(tables, options.file, overwrite=options.overwrite)}")
    except (BadSetting, Refused, StoreDown, OSError) as why:
        sys.exit(f"gradgraph: {why}")
    except DBAPIError as trouble:
        sys.exit(f"gradgraph: the store cannot be used: {trouble.orig}")


if __name__ == "__main__":
    main()
