/** The tiers of recorded levels. Every tier contains steps of one length; a coarser one summarizes the finer ones. */

/** Seconds per step, finest tier first. Each is a multiple of the previous one. */
export const tierSteps = [1, 10, 60, 600, 3600] as const

/** Seconds per step. */
export type TierStep = (typeof tierSteps)[number]

/** Maximum number of channels in one response with levels. */
export const maxLevelChannels = 100

/** Maximum number of steps in one response with levels, all channels together. */
export const maxResponseSteps = 100_000
