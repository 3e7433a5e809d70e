"""A chain of five links swings for ten seconds: simulated in this process, plotted and drawn."""

from mechfmu import LinkChain

result = LinkChain(links=5).simulate(stop=10, start={"joint[1].angle_start": -0.5, "joint[1].damping": 0.2})
print(f"the tip ends at ({result['tip.x'][-1]:.3f}, {result['tip.y'][-1]:.3f}) m")
result.plot(["tip.x", "tip.y", "energy.total", "energy.dissipated"], "swing.png")
result.animate("swing.gif", fps=10)
