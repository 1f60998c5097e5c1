/**
 * Appends seconds of one channel, without waiting for them to pass, until it is killed or has reached a time. Prints the
 * end of each batch once it is stored: history-child.ts <url> <channel> <from> <to>
 */

import { type ColumnName, columnNames } from '../../../src/domain/history/columns.ts'
import { openLevelHistory } from '../../../src/history/levels/open-level-history.ts'

const [url = '', channel, from, to] = process.argv.slice(2)
const batchSeconds = 5
const history = openLevelHistory({ url })
for (let second = Number(from); second < Number(to); second += batchSeconds) {
  const columns = Object.fromEntries(
    columnNames.map((name) => [
      name,
      Int16Array.from({ length: batchSeconds }, (_, index) => levelAt(name, second + index)),
    ]),
  ) as Record<ColumnName, Int16Array>
  await history.append({ from: second, count: batchSeconds, channelIds: [Number(channel)], columns })
  process.stdout.write(`${second + batchSeconds}\n`)
}
await history.close()

function levelAt(name: ColumnName, second: number): number {
  if (name === 'state') return 4
  return name === 'rf_min' ? -(second % 97) : 0
}
