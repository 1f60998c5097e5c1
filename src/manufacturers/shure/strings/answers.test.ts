/**
 * Reads fixtures that contain the answer to each command, over TCP. They are composed of what documents and public
 * projects quote; recordings of devices are in `test/captures`.
 */

import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { onTestEnd } from '../../../../test/support/cleanup.ts'
import { connectToDevice } from '../../../../test/support/plugins/device-kit.ts'
import { expectCommonFormat } from '../../../../test/support/plugins/plugin-kit-fixtures.ts'
import type { DeviceReport } from '../../../domain/equipment/receiver.ts'
import { shure } from '../index.ts'
import { splitAngleFrames } from './frames.ts'

interface Fixture {
  readonly source: string
  /** Command -> frames. */
  readonly answers: Readonly<Record<string, string>>
  /** The answer to every other command. Default: an error report. */
  readonly default?: string
  /** Sent repeatedly while metering is on. */
  readonly samples: readonly string[]
  /** The expected report, without `metadata`; `{host}` stands for the device's address. */
  readonly report: DeviceReport
}

const folder = new URL('./fixtures/', import.meta.url)

const fixtures = readdirSync(folder)
  .map((name) => ({ name, fixture: JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Fixture }))
  .filter(({ fixture }) => 'answers' in fixture)

test.concurrent.each(fixtures)('$name', async ({ fixture }) => {
  expect(fixture.source.length).toBeGreaterThan(20)
  const host = await serve(fixture)
  const { adapter, client } = connectToDevice(shure, `tcp://${host}`)
  onTestEnd(() => client.close())
  const { devices } = await adapter.listDevices(client)
  const [report, ...others] = devices.map((device) => adapter.transformDeviceData(device))
  if (report === undefined) throw new Error('No device is listed.')
  expect(others).toEqual([])
  expectCommonFormat(report)
  const { metadata: _, ...reported } = report
  expect(reported).toEqual(JSON.parse(JSON.stringify(fixture.report).replace('{host}', host)))
})

/** Resolves with the `host:port` of a server that answers as the fixture. */
async function serve(fixture: Fixture): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    answerTo(fixture, socket)
  })
  onTestEnd(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

function answerTo({ answers, default: defaultAnswer = '< REP ERR >', samples }: Fixture, socket: Socket): void {
  let rest = ''
  let meters: NodeJS.Timeout | undefined
  socket.on('error', () => {}).on('close', () => clearInterval(meters))
  socket.on('data', (bytes) => {
    const frames = splitAngleFrames(rest + String(bytes))
    rest = frames.rest
    for (const message of frames.messages) answer(message.trim())
  })

  function answer(command: string): void {
    const [, ms] = /^SET \d METER_RATE (\d+)$/.exec(command) ?? []
    if (ms === undefined) return void socket.write(answers[command] ?? defaultAnswer)
    clearInterval(meters)
    if (Number(ms) > 0) meters = setInterval(() => socket.write(samples.join('')), Number(ms))
  }
}
