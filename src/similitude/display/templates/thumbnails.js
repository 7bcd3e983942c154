// Pictures on a map: none hides another. As display/thumbnails.py finds room, where it is explained, for a screen of any size.
"use strict";

const THUMBNAILS = { smaller: 0.87, steps: [0.7, 1.0, 1.4, 1.9, 2.5], directions: 16, gap: 1, missing: 0.05, aside: 0.4, most: 400 };

/** Items in an order in which each is far from all before it; the first is far from the middle. */
function spreadFirst(place) {
  if (!place.length) return [];
  const away = ([x, y], [u, v]) => Math.hypot(x - u, y - v);
  const middle = [0, 1].map((axis) => place.reduce((sum, own) => sum + own[axis], 0) / place.length);
  const farthest = (apart, left) => apart.reduce((best, value, k) => (left[k] && (best < 0 || value > apart[best]) ? k : best), -1);
  const left = place.map(() => true), order = [];
  let apart = place.map((own) => away(own, middle));
  for (let next = farthest(apart, left); next >= 0; next = farthest(apart, left)) {
    apart = place.map((own, k) => (order.length ? Math.min(apart[k], away(own, place[next])) : away(own, place[next])));
    order.push(next);
    left[next] = false;
  }
  return order;
}

/** Find room for pictures: their size, and of each item the middle of its picture and whether it stands aside, or null for a dot. */
function layOut(place, hasPicture, width, height, largest, smallest) {
  const order = spreadFirst(place).filter((k) => hasPicture[k]).slice(0, THUMBNAILS.most);
  let size = Math.max(Math.min(largest, Math.sqrt(width * height / Math.max(order.length, 1))), smallest);
  for (;;) {
    const spots = placedThumbnails(place, order, width, height, size);
    const shown = spots.filter(Boolean), aside = shown.filter((spot) => spot.aside).length;
    const fits = order.length - shown.length <= THUMBNAILS.missing * order.length && aside <= THUMBNAILS.aside * order.length;
    if (fits || size <= smallest) return { size, spots };
    size = Math.max(size * THUMBNAILS.smaller, smallest);
  }
}

/** Where the line from a place to a picture that stands aside meets the picture. */
function edgeOf([x, y], spot, size) {
  const by = [spot.x - x, spot.y - y], share = 1 - size / 2 / Math.max(Math.abs(by[0]), Math.abs(by[1]), size / 2);
  return { x: x + share * by[0], y: y + share * by[1] };
}

function placedThumbnails(place, order, width, height, size) {
  const spots = place.map(() => null), taken = [], waiting = [];
  const free = ([x, y]) => !taken.some(([u, v]) => Math.abs(x - u) < size + THUMBNAILS.gap && Math.abs(y - v) < size + THUMBNAILS.gap);
  const stand = (k, [x, y], aside) => {
    spots[k] = { x, y, aside };
    taken.push([x, y]);
  };
  for (const k of order) {
    if (free(place[k])) stand(k, place[k], false);
    else waiting.push(k);
  }
  const turns = Array.from({ length: THUMBNAILS.directions }, (_, k) => k * 2 * Math.PI / THUMBNAILS.directions);
  const around = THUMBNAILS.steps.flatMap((step) => turns.map((turn) => [size * step * Math.cos(turn), size * step * Math.sin(turn)]));
  const inside = ([x, y]) => x >= size / 2 && y >= size / 2 && x <= width - size / 2 && y <= height - size / 2;
  for (const k of waiting) {
    const some = around.map(([x, y]) => [place[k][0] + x, place[k][1] + y]).find((spot) => inside(spot) && free(spot));
    if (some) stand(k, some, true);
  }
  return spots;
}
