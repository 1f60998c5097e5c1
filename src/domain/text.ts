/** Text of devices, systems and sites. */

/** Embeddings, overrides and isolates of the direction of text, with which a name can look like another. */
export const directionOverrides = /[\u202a-\u202e\u2066-\u2069]/g
