"""Starts the Python process of an FMU. Any Python can read this file, so that one that is too old can say so.

    python mechfmu_start.py READ WRITE LIFELINE OUTPUT HOST

The arguments are descriptors (handles on Windows) of both ends of the channel, the lifeline, and the file of standard
output and error, and the host's process id. If the process ends before its first message, the last line on standard
error is the reason that the host reports.
"""

import json
import os
import sys


def main():
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "mechfmu.json"), "rb") as file:
        settings = json.loads(file.read().decode("utf-8"))
    version, oldest = sys.version_info[:2], tuple(settings["python"])
    if version < oldest:
        sys.stderr.write("Python %d.%d is too old: %d.%d or newer is needed\n" % (version + oldest))
        sys.exit(1)
    if folder not in sys.path:  # PYTHONSAFEPATH is set
        sys.path.insert(0, folder)
    import mechfmu_child

    mechfmu_child.main(folder, settings, [int(n) for n in sys.argv[1:6]])


if __name__ == "__main__":  # not when a slave starts processes of its own
    main()
