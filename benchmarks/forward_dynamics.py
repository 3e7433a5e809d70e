"""The accelerations of the link chain beside Pinocchio and MuJoCo: what `mechfmu bench` prints, see components/mechfmu/run/bench.py."""

import sys

from mechfmu.run.bench import bench

if __name__ == "__main__":
    sys.exit(bench(sys.argv[1:]))
