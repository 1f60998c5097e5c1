import type { LiveMessage } from '../contract/live-messages.ts'
import { type Sweep, toDbm } from '../domain/frequencies/sweeps/sweep.ts'
import { toTimestamp } from '../domain/timestamp.ts'
import type { LiveSpectrum } from '../frequencies/live-spectrum.ts'

/** All clients share the frame of a sweep. */
const frames = new WeakMap<Sweep, Buffer>()

/** Returns the `sweep` message about the last sweep of a source. */
export function sweepFrame({ source, last }: LiveSpectrum): Buffer {
  const known = frames.get(last)
  if (known !== undefined) return known
  const { startedAt, fromMhz, stepMhz, tenthsDbm } = last
  const range = { from_mhz: fromMhz, step_mhz: stepMhz }
  const message: LiveMessage = { type: 'sweep', source, at: toTimestamp(startedAt), ...range, dbm: toDbm(tenthsDbm) }
  const frame = Buffer.from(JSON.stringify(message))
  frames.set(last, frame)
  return frame
}
