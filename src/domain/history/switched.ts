/** The seconds in which a transmitter was switched on or off. */

import type { Steps } from './columns.ts'
import { stateLetters } from './columns.ts'

const off = stateLetters.indexOf('0')

/**
 * Whether the transmitter of a channel is off in the second before or after this one. The lowest RF level of such a second
 * may be noise, which the receiver measured before the transmitter was switched on, or after it was switched off.
 * `channel` is the position of the channel in the steps, `index` that of the second in the columns.
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
