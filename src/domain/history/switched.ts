import type { Steps } from './columns.ts'
import { stateLetters } from './columns.ts'

const off = stateLetters.indexOf('0')

/**
 * True if the transmitter of a channel is off in the previous or next second. The lowest RF level of such a second may
 * be noise from before the transmitter was switched on, or after it was switched off. `channel` is a position in the
 * steps, `index` a position in the columns.
 */
export function isNextToOff(
  { columns, count }: Pick<Steps, 'columns' | 'count'>,
  channel: number,
  index: number,
): boolean {
  const { state } = columns
  const first = channel * count
  return (index > first && state[index - 1] === off) || (index + 1 < first + count && state[index + 1] === off)
}
