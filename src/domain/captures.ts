/** Why a capture ended. */
export const captureEnds = ['time', 'stopped', 'size', 'source_changed'] as const
export type CaptureEnd = (typeof captureEnds)[number]

/** The duration of a capture, unless it is ended before. */
export const captureMinutes = { usual: 5, most: 60 } as const
