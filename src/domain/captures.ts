/** Why a capture ended. */
export const captureEnds = ['time', 'stopped', 'size', 'source_changed'] as const
export type CaptureEnd = (typeof captureEnds)[number]

/** The kinds of values that a capture replaces. */
export const privateKinds = ['name', 'serial', 'mac', 'ip', 'secret'] as const
export type PrivateKind = (typeof privateKinds)[number]

/** The duration of a capture in minutes, unless it is ended before. */
export const captureMinutes = { usual: 5, most: 60 } as const
