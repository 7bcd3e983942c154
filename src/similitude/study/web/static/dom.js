// Small helpers: elements, words, waiting.

/** An element with attributes and children; text is always text, never HTML. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** A text with its places filled in. */
export function fill(text, values) {
  return text.replace(/{(\w+)}/g, (place, name) => (name in values ? String(values[name]) : place));
}

export function seconds(number) {
  return new Promise((resolve) => setTimeout(resolve, 1000 * number));
}

/** Resolves when what is in the document has been painted; a page in the background is not waited for. */
export function painted() {
  const frames = new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  return Promise.race([frames, seconds(0.2)]);
}

/** Black or white: of the two, the one with the greater contrast upon a colour given as #rrggbb. */
export function inkUpon(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return (luminance + 0.05) ** 2 > 1.05 * 0.05 ? "#000000" : "#ffffff";
}

/** An id that nobody else makes. */
export function freshId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
