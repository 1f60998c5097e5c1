/** `micwatch history`, with the service running and without it. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type ColumnName, columnNames } from '../src/domain/history/columns.ts'
import { openLevelHistory } from '../src/history/levels/open-level-history.ts'
import { createInstallation } from './support/app.ts'

const toTime = (seconds: number) => new Date(seconds * 1000).toISOString()
const start = Math.floor(Date.now() / 86_400_000) * 86_400 - 20 * 86_400
const removedChannel = 9000

/** Records 20 minutes of one channel that was removed since, 20 days ago. */
async function recordSeconds(url: string): Promise<void> {
  const levels = openLevelHistory({ url })
  const values = { state: 4, rf_min: -60, rf_max: -50, battery: 80 } as Partial<Record<ColumnName, number>>
  const count = 1200
  const columns = Object.fromEntries(
    columnNames.map((name) => [name, new Int16Array(count).fill(values[name] ?? 0)]),
  ) as Record<ColumnName, Int16Array>
  await levels.append({ from: start, count, channelIds: [removedChannel], columns })
  await levels.close()
}

// Conformance: C-12.69.
it('shows, exports and prunes levels, with the service running or not', async () => {
  const installation = await createInstallation({})
  const service = await installation.serve()
  await recordSeconds(installation.databaseUrl)
  const history = (...args: string[]) => installation.run(['history', ...args])
  const range = ['--from', toTime(start), '--to', toTime(start + 600)]

  const stats = (await history('stats', '--json')).json()
  expect(stats).toEqual({
    bytes: expect.any(Number),
    first: toTime(start),
    last: toTime(start + 1200),
    tiers: expect.arrayContaining([expect.objectContaining({ step_seconds: 1, first: toTime(start) })]),
    free_bytes: expect.any(Number),
  })
  const printed = await history('export', '--channels', String(removedChannel), ...range, '--step', '60')
  expect([printed.code, printed.err, printed.out.split('\r\n').length]).toEqual([0, '', 12])
  expect(printed.out).toContain(`${toTime(start)},${removedChannel},,1,-60,-50,`)
  const file = ['--out', 'levels.csv', '--json']
  const written = await history('export', '--channels', String(removedChannel), ...range, ...file)
  const csv = await readFile(join(installation.path, 'levels.csv'))
  expect([written.code, written.json()]).toEqual([0, { file: 'levels.csv', bytes: csv.length, channels: 1 }])
  expect(csv.toString().split('\r\n')).toHaveLength(602)

  const dry = (await history('prune', '--dry-run', '--json')).json()
  expect(dry).toMatchObject({ dry_run: true, bytes: expect.any(Number) })
  expect(dry.tiers[0]).toMatchObject({ step_seconds: 1, first: toTime(start), last: toTime(start + 1200) })
  service.kill('SIGTERM')
  await service.ended
  const pruned = (await history('prune', '--json')).json()
  expect(pruned).toEqual({ ...dry, dry_run: false })
  const minute = await history('export', '--channels', String(removedChannel), ...range, '--step', '60')
  expect(minute.out).toBe(printed.out)
  const second = await history('export', '--channels', String(removedChannel), ...range)
  expect(second.out).toContain(`${toTime(start)},${removedChannel},,,`)
})

it('rejects wrong arguments in one line', async () => {
  const installation = await createInstallation()
  await installation.run(['migrate'])
  const range = ['--from', toTime(start), '--to', toTime(start + 1)]
  for (const [args, message] of [
    [['stats', 'more'], /too many arguments/],
    [['export', ...range], /--channels/],
    [['export', '--channels', 'x', ...range], /--channels: expected ids/],
    [['export', '--channels', '7', ...range], /--channels: there is no channel 7/],
    [['export', '--channels', '7', '--from', 'today', '--to', toTime(start)], /--from: expected a time/],
    [['export', '--channels', 'all', ...range], /no channels yet/],
    [['export', '--json', '--channels', '7', ...range], /--json requires --out/],
  ] as const) {
    const { code, out, err } = await installation.run(['history', ...args])
    expect([code, out, err.trim().split('\n')]).toEqual([2, '', [expect.stringMatching(message)]])
  }
})

it('requires an installation', async () => {
  const installation = await createInstallation()
  const { code, err } = await installation.run(['history', 'stats'])
  expect([code, err]).toEqual([1, expect.stringMatching(/There is no database at .*--data-dir/)])
})
