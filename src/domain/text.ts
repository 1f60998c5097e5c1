/** Text of devices, systems and sites. */

/** Unicode embeddings, overrides and isolates of text direction. With these, a name can look like another. */
export const directionOverrides = /[\u202a-\u202e\u2066-\u2069]/g
