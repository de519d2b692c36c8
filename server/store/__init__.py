"""Where finished traces and snapshots are kept."""

from server.store.protocol import SnapshotStore, Store, Stored, StoreDown, StoreFull, StoreSize, etag

__all__ = ["SnapshotStore", "Store", "StoreDown", "StoreFull", "StoreSize", "Stored", "etag"]
