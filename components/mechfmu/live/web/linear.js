/** Small linear systems. */

const REGULARIZATION = 1e-12; // relative to the largest diagonal element

/**
 * The shortest u with A u = b, and how far A u is from b relative to b: u = A^T y, (A A^T) y = b.
 * A: an array of rows; b: an array.
 */
export function leastNorm(A, b) {
  const n = A.length;
  const largest = Math.max(...A.map((row) => dot(row, row)), 0);
  const G = A.map((row, i) => A.map((other, j) => dot(row, other) + (i === j ? REGULARIZATION * largest : 0)));
  const y = largest > 0 ? choleskySolve(G, b) : b.map(() => 0);
  const u = A.length ? A[0].map((_, k) => A.reduce((sum, row, i) => sum + row[k] * y[i], 0)) : [];
  const missing = A.map((row, i) => dot(row, u) - b[i]);
  return { u, error: n ? Math.sqrt(dot(missing, missing) / Math.max(dot(b, b), 1e-300)) : 1 };
}

export function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/** Solves G y = b, G symmetric and positive definite up to rounding; what it does not determine is 0. */
function choleskySolve(G, b) {
  const n = b.length;
  const L = G.map((row) => row.slice());
  const y = b.slice();
  for (let j = 0; j < n; j++) {
    for (let k = 0; k < j; k++) L[j][j] -= L[j][k] ** 2;
    L[j][j] = L[j][j] > 0 ? Math.sqrt(L[j][j]) : Infinity;
    for (let i = j + 1; i < n; i++) {
      for (let k = 0; k < j; k++) L[i][j] -= L[i][k] * L[j][k];
      L[i][j] /= L[j][j];
    }
  }
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < i; k++) y[i] -= L[i][k] * y[k];
    y[i] /= L[i][i];
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let k = i + 1; k < n; k++) y[i] -= L[k][i] * y[k];
    y[i] /= L[i][i];
  }
  return y;
}
