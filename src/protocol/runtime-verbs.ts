/** The types of what plugins add to a Runtime. A plugin declares its own here by merging this interface. */
// biome-ignore lint/suspicious/noEmptyInterface: plugins fill it
export interface RuntimeVerbs {}
