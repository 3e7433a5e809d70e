/** Where the numbers of a frame are, in the order of model/drawing.py: drawn_numbers. */

/**
 * For each member the offsets of its parts: lines, outlines and ground as [{start, count}] (count: points), floors,
 * solids, arrows, moments and trails as arrays of offsets. `end` is where the next member begins.
 */
export function frameLayout(scene) {
  const dimension = scene.dimension;
  let offset = 0;
  const take = (numbers) => (offset += numbers) - numbers;
  const polylines = (counts) => counts.map((count) => ({ start: take(count * dimension), count }));
  const rows = (count, numbers) => Array.from({ length: count }, () => take(numbers));
  return scene.members.map((member) => ({
    lines: polylines(member.lines),
    outlines: polylines(member.outlines),
    ground: polylines(member.ground),
    floors: rows(member.floors, 2 * dimension),
    solids: rows(member.solids.length, 12),
    arrows: rows(member.arrows.length, 2 * dimension),
    moments: rows(member.moments.length, dimension + (dimension === 2 ? 1 : 3)),
    trails: rows(member.traced, dimension),
    end: offset,
  }));
}

/** The points of a polyline as [x, y, z]; z is 0 in the plane. */
export function pointsOf(frame, { start, count }, dimension) {
  return Array.from({ length: count }, (_, k) => pointOf(frame, start + k * dimension, dimension));
}

export function pointOf(frame, offset, dimension) {
  return [frame[offset], frame[offset + 1], dimension === 3 ? frame[offset + 2] : 0];
}

/** Low and high corner of points. */
export function boundsOf(points) {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (const point of points) {
    for (let k = 0; k < 3; k++) {
      if (point[k] < low[k]) low[k] = point[k];
      if (point[k] > high[k]) high[k] = point[k];
    }
  }
  return { low, high, extent: Math.max(0, ...high.map((h, k) => h - low[k]).filter(Number.isFinite)) };
}

export function distance(a, b) {
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

export function lengthOf(points) {
  return points.reduce((sum, point, k) => (k ? sum + distance(point, points[k - 1]) : 0), 0);
}

export function closes(points, tolerance) {
  return points.length > 3 && distance(points[0], points[points.length - 1]) <= tolerance;
}
