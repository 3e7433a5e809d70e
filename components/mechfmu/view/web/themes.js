/** Colours of the view. Those of the parts are for light and dark alike, a little brighter in the dark. */
export const THEMES = {
  light: {
    sky: ["#fbfcfe", "#eef2f6", "#dbe2ea"], // background, from above
    floor: "#c3ccd6", grid: "#5f7286", gridStrength: 0.34, wall: "#ffffff",
    shadow: 0.34, exposure: 1.0, hemisphere: [0xffffff, 0xb4bcc8, 0.62], key: 1.55, fill: 0.3, ambience: 0.75,
    slab: "#d3dae2", earth: "#bcc6d1", ground: "#9aa7b5", support: "#66727f",
    lines: ["#2f6fdc", "#12a09a", "#7c8fb3", "#5b6cc9"], pin: "#e9edf2", bone: "#8d9aa9", rubber: "#343b44",
    plate: "#2f6fdc", part: "#39424d", mark: "#d7dde4",
    force: "#e0245e", reaction: "#1f9d3a", moment: "#8a3ffc", pull: "#ff8a00", trail: "#f08000", target: "#f08000",
    ghost: "#6b7c90", highlight: "#ff9f1c", ghostOpacity: 0.26, label: "#33404d",
  },
  dark: {
    sky: ["#232b35", "#171d25", "#0d1116"],
    floor: "#2a333e", grid: "#9db2c8", gridStrength: 0.26, wall: "#1a212a",
    shadow: 0.55, exposure: 1.0, hemisphere: [0xdfe9ff, 0x2b3440, 0.5], key: 1.5, fill: 0.35, ambience: 0.6,
    slab: "#39444f", earth: "#28313b", ground: "#5d6a78", support: "#8794a2",
    lines: ["#4a8bff", "#2cc0b4", "#93a6cc", "#7f8cf0"], pin: "#dfe6ee", bone: "#94a2b2", rubber: "#20262d",
    plate: "#4a8bff", part: "#4b5664", mark: "#c7d0da",
    force: "#ff5c8a", reaction: "#45cc66", moment: "#b184ff", pull: "#ffab3d", trail: "#ffb347", target: "#ffb347",
    ghost: "#a5b6c9", highlight: "#ffb84d", ghostOpacity: 0.22, label: "#dbe4ee",
  },
};
