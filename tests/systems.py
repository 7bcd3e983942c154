"""Tests of what one kind of system has."""

import sys

import pytest

unix_only = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals, and asks leave for links")
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="other systems have limits that they do not tell")
