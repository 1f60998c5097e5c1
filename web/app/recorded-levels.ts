/** What the pages know about recorded levels. */

/** The service returns the levels of at most this many channels at once. */
export const maxChannels = 100
