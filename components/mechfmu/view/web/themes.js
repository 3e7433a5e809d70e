/** Colours of the view. Those of the parts are for light and dark alike, a little brighter in the dark. */
export const THEMES = {
  light: {
    sky: ["#f7f9fc", "#e9eef4", "#d5dde6"], // background, from above
    floor: "#c3ccd6", grid: "#5f7286", gridStrength: 0.5, wall: "#f3f6fa",
    shadow: 0.24, exposure: 1.0, hemisphere: [0xffffff, 0x9aa6b6, 0.52], key: 0.62, fill: 0.2, rim: 0.16,
    slab: "#c6ced8", earth: "#bcc6d1", ground: "#9aa7b5", support: "#66727f",
    lines: ["#2f6fdc", "#12a09a", "#7c8fb3", "#5b6cc9"], pin: "#d9e0e8", bone: "#8d9aa9", rubber: "#343b44",
    plate: "#2f6fdc", part: "#39424d", mark: "#7d8894",
    force: "#e0245e", reaction: "#1f9d3a", moment: "#8a3ffc", pull: "#ff8a00", trail: "#f08000", target: "#f08000",
    ghost: "#6b7c90", highlight: "#ff9f1c", ghostOpacity: 0.26, label: "#33404d",
  },
  dark: {
    sky: ["#232b35", "#171d25", "#0d1116"],
    floor: "#2a333e", grid: "#9db2c8", gridStrength: 0.36, wall: "#1a212a",
    shadow: 0.55, exposure: 1.0, hemisphere: [0xe8f0ff, 0x39434f, 0.46], key: 0.68, fill: 0.24, rim: 0.24,
    slab: "#39444f", earth: "#28313b", ground: "#5d6a78", support: "#8794a2",
    lines: ["#4a8bff", "#2cc0b4", "#93a6cc", "#7f8cf0"], pin: "#cfd8e2", bone: "#94a2b2", rubber: "#20262d",
    plate: "#4a8bff", part: "#4b5664", mark: "#8f9ba8",
    force: "#ff5c8a", reaction: "#45cc66", moment: "#b184ff", pull: "#ffab3d", trail: "#ffb347", target: "#ffb347",
    ghost: "#a5b6c9", highlight: "#ffb84d", ghostOpacity: 0.22, label: "#dbe4ee",
  },
};
