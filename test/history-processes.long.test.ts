/** Several processes use one history: one records, others respond and send. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import type { HistoryLevelsBody } from '../src/contract/history.ts'
import { now } from '../src/platform/clock.ts'
import { openDatabase } from '../src/storage/database.ts'
import { configFor, createInstallation, startShure, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { decodeWriteRequest, uncompressSnappy } from './support/remote-write-receiver.ts'
import { timeLimit } from './support/time-limit.ts'

/** Starts a remote-write receiver that notes when each interval of each series ended, in epoch seconds. */
async function startReceiver() {
  const received = new Map<string, number[]>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    for (const { labels, samples } of decodeWriteRequest(uncompressSnappy(Buffer.concat(chunks)))) {
      const name = `${labels.__name__} ${labels.channel_id}`
      const times = samples.map(([, time]) => time / 1000)
      received.set(name, [...(received.get(name) ?? []), ...times])
    }
    response.writeHead(204).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/write`, received }
}

// Conformance: C-12.105, C-12.106.
it('poll_devices records, serve responds with it within 3 s, and one of two processes sends every interval once', async () => {
  const simulator = await startShure({ receivers: 1, channelsPerReceiver: 1 })
  const receiver = await startReceiver()
  const installation = await createInstallation({
    manufacturers: [configFor(simulator)],
    history_remote_write: { url: receiver.url, interval_seconds: 1 },
  })
  const serving = [await installation.serve(['--no-poll']), await installation.serve(['--no-poll'])]
  const [first, second] = serving as [(typeof serving)[0], (typeof serving)[0]]
  installation.start(['poll_devices'])
  const id = await until('the channel is known', async () => (await first.receivers())[0]?.channels[0]?.id)

  const readAge = async () => {
    const end = now()
    const [from, to] = [end - 20_000, end].map((time) => new Date(time).toISOString())
    const { json } = await first.get(`/api/history/levels/?channels=${id}&from=${from}&to=${to}`)
    const { state } = (json as HistoryLevelsBody).channels[0] ?? { state: '' }
    return state.length - 1 - state.lastIndexOf('1')
  }
  await until('serve responds with recorded levels', async () => (await readAge()) < 20)
  const ages: number[] = []
  const series = `micwatch_channel_rf_dbm_max ${id}`
  const sent = () => receiver.received.get(series) ?? []
  await until('intervals are sent', async () => {
    ages.push(await readAge())
    return sent().length > 1
  })
  // The second of the request itself is counted, because it has not ended.
  expect(Math.max(...ages)).toBeLessThanOrEqual(timeLimit(3000) / 1000 + 1)

  const db = await openDatabase({ url: installation.databaseUrl })
  onTestEnd(() => db.close())
  const [lease] = await db.read.selectFrom('leases').selectAll().where('source', '=', 'remote_write').execute()
  const [holder, other] = lease?.owner?.split(':')[1] === String(first.pid) ? [first, second] : [second, first]
  const stoppedAt = now() / 1000
  holder.kill('SIGTERM')
  expect(await holder.ended).toBe(0)
  await until('the other process sends', () => (sent().at(-1) ?? 0) > stoppedAt, 40_000)
  expect(other.isRunning()).toBe(true)
  for (const [name, times] of receiver.received) {
    const [start = 0] = times
    expect([name, times]).toEqual([name, times.map((_, index) => start + index)])
  }
})
