/** Bounds of tools that more than one part must agree on. */

/** How much JSON a tool may return. */
export const resultLimitBytes = 8_388_608;
