"""What kind of file a suffix stands for: our word, not the system's.

A system may not know a suffix (webp and avif are new to some), and on Windows any program may have changed what it
knows. A browser that is told `text/plain` shows no picture and runs no script.
"""

from __future__ import annotations

import mimetypes

MEDIA_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".svg": "image/svg+xml",
    ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg",
    ".wav": "audio/wav",
    ".m4a": "audio/mp4",
    ".flac": "audio/flac",
    ".mp4": "video/mp4",
    ".webm": "video/webm",
}


def know_media_types() -> None:
    """Tell Python's table, which every response of a file asks."""
    for suffix, kind in MEDIA_TYPES.items():
        mimetypes.add_type(kind, suffix)
