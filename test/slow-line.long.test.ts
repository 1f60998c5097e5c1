/** A client on a line that is slower than its data. */

import { expect, it } from 'vitest'
import { configFor, deviceOf, startApp, startShure, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { openLine } from './support/line.ts'
import { openLive } from './support/live-client.ts'
import { openSocket } from './support/socket-client.ts'
import { timeLimit } from './support/time-limit.ts'

const receivers = 25
const channelsPerReceiver = 4

it('receives facts within seconds over 1 kB/s, and levels as often as the line allows', async () => {
  const shure = await startShure({ receivers, channelsPerReceiver })
  const app = await startApp({ manufacturers: [configFor(shure)] })
  await until('all receivers are known', async () => (await app.receivers()).length === receivers)
  const line = await openLine(app.port)
  const client = await openLive(
    { socket: (path: string) => openSocket(`${line.url.replace('http', 'ws')}${path}`) },
    '&ack=1&levels=full',
  )
  const acknowledge = () =>
    client.send({ type: 'ack', seq: client.messages.findLast(({ seq }) => seq !== undefined)?.seq })
  acknowledge()
  let acknowledged = client.messages.length
  const acknowledging = setInterval(() => {
    if (client.messages.slice(acknowledged).some(({ type }) => type === 'levels')) acknowledge()
    acknowledged = client.messages.length
  }, 20)
  const everySecond = setInterval(acknowledge, 1_000)
  let turn = 0
  const devices = Array.from({ length: receivers }, (_, index) => deviceOf(shure, index).id)
  // Every level of every channel changes ten times a second.
  const playing = setInterval(() => {
    turn += 1
    for (const id of devices) {
      for (let channel = 1; channel <= channelsPerReceiver; channel += 1) {
        shure.show.set(id, { rf_level: -50 - (turn % 20), audio_level: -10 - (turn % 30) }, channel)
      }
    }
    shure.push.flush()
  }, 100)
  onTestEnd(() => {
    for (const timer of [acknowledging, everySecond, playing]) clearInterval(timer)
  })
  line.limit({ bytesPerSecond: 1_000, delayMs: 20 })
  await until('the line is found to be slow', () => client.ofType('levels').length > 5)

  const delays: number[] = []
  for (const [index, id] of devices.slice(0, 4).entries()) {
    const changedAt = performance.now()
    const battery = 20 + index
    shure.show.set(id, { battery }, 1)
    shure.push.flush()
    const message = await client.next(
      ({ type, transmitter, at }) => type === 'channel' && transmitter?.battery === battery && at > changedAt,
      60_000,
    )
    delays.push(message.at - changedAt)
  }
  console.log(
    'facts arrived after',
    delays.map(Math.round),
    'ms;',
    client.ofType('levels').length,
    'messages of levels',
  )
  expect(Math.max(...delays)).toBeLessThan(timeLimit(4_000))
  const levels = client.ofType('levels').length
  await until('more levels arrive', () => client.ofType('levels').length > levels)
})
