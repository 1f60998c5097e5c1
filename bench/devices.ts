/**
 * The cost of a TCP connection to each of many receivers that send levels ten times a second. Reference: a process that
 * opens plain sockets to the same receivers and discards the data.
 */

import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ReceiverInData } from '../src/contract/receivers.ts'
import {
  type AtEnd,
  type Bench,
  cpuTimeMs,
  createTempFolder,
  type Figure,
  residentMegabytes,
  waitFor,
} from './harness.ts'
import { startReference, startService } from './servers.ts'

const receivers = 500
const channels = [1, 2, 3, 4] as const
const meterMs = 100
const seconds = 10

export const devices = (nodeOptions: readonly string[]): Bench => ({
  name: 'devices',
  runs: 3,
  async open(atEnd) {
    const rack = await startRack(atEnd, receivers)
    const folder = await createTempFolder(atEnd)
    const config = { devices: rack.ports.map((port) => `tcp://127.0.0.1:${port}`), timeout: 30 }
    const manufacturers = [{ code: 'shure', config }]
    const startedAt = performance.now()
    const micwatch = await startService(atEnd, folder, { manufacturers, nodeOptions })
    await waitFor('every receiver sends levels to Micwatch', () => rack.metering() === receivers, 120_000)
    await waitFor(
      'Micwatch knows every transmitter',
      async () => (await countTransmitters(micwatch.address)) === receivers * channels.length,
    )
    await waitFor(
      'Micwatch shows the levels of every receiver',
      async () => (await countShown(micwatch.address)) === receivers,
    )
    const startMs = performance.now() - startedAt
    const file = join(folder, 'ports.json')
    await writeFile(file, JSON.stringify(rack.ports))
    const reference = await startReference(atEnd, { args: ['receivers', file] })
    await waitFor('every receiver sends levels to the reference', () => rack.metering() === 2 * receivers, 60_000)

    return {
      async measure() {
        const before = await Promise.all([cpuTimeMs(micwatch.pid), cpuTimeMs(reference.pid)])
        await sleep(seconds * 1000)
        const after = await Promise.all([cpuTimeMs(micwatch.pid), cpuTimeMs(reference.pid)])
        if (rack.metering() !== 2 * receivers)
          throw new Error('A connection to a receiver was lost during the measurement.')
        const [ours, bare] = after.map((value, processIndex) => ((value ?? 0) - (before[processIndex] ?? 0)) / seconds)
        const [megabytes, bareMegabytes] = await Promise.all(
          [micwatch, reference].map(({ pid }) => residentMegabytes(pid)),
        )
        const size = `${receivers} receivers × ${channels.length}`
        const figures: Figure[] = [
          {
            name: `${size}, metering at ${1000 / meterMs} Hz, CPU`,
            unit: 'ms/s',
            ours: ours ?? 0,
            reference: bare ?? null,
          },
          {
            name: `${size}, from the start until all are subscribed`,
            unit: 'ms',
            ours: startMs,
            reference: Number(reference.output.allReceivedMs),
          },
        ]
        if (typeof megabytes === 'number') {
          figures.push({ name: `${size}, memory`, unit: 'MB', ours: megabytes, reference: bareMegabytes ?? null })
        }
        return figures
      },
    }
  },
})

/** Reads the summary, because reading data.json repeatedly would occupy Micwatch. */
async function countTransmitters(address: string): Promise<number> {
  const response = await fetch(`${address}/api/summary/`)
  return ((await response.json()) as { transmitters_on: number }).transmitters_on
}

/** Counts the receivers whose channels all have levels in data.json. */
async function countShown(address: string): Promise<number> {
  const response = await fetch(`${address}/api/data.json`)
  const { receivers: all } = (await response.json()) as { receivers: ReceiverInData[] }
  return all.filter((receiver) => receiver.channels.every(({ rf_level }) => rf_level !== null)).length
}

/** Starts minimal simulations of four-channel ULX-D receivers, which send new levels with every sample. */
export async function startRack(atEnd: AtEnd, receivers: number) {
  const metering = new Set<Socket>()
  const servers: Server[] = []
  atEnd(async () => {
    clearInterval(timer)
    for (const socket of metering) socket.destroy()
    for (const server of servers) server.close()
  })
  for (let index = 0; index < receivers; index += 1) {
    const server = createServer((socket) => simulateReceiver(socket, index, metering))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    servers.push(server)
  }
  let sampleCount = 0
  const timer = setInterval(() => {
    sampleCount += 1
    const level = String(60 + (sampleCount % 40)).padStart(3, '0')
    const frames = channels.map((channel) => `< SAMPLE ${channel} ALL AX ${level} 030 >`).join('')
    for (const socket of metering) socket.write(frames)
  }, meterMs)
  return {
    ports: servers.map((server) => (server.address() as AddressInfo).port),
    metering: () => metering.size,
  }
}

function simulateReceiver(socket: Socket, index: number, metering: Set<Socket>): void {
  const octets = [index >> 8, index & 255]
  const mac = `00:0E:DD:00:${octets.map((octet) => octet.toString(16).padStart(2, '0')).join(':')}`
  const responses: Readonly<Record<string, string>> = {
    'GET MODEL': '< REP MODEL {ULXD4Q} >',
    'GET DEVICE_ID': `< REP DEVICE_ID {R${index}} >`,
    'GET FW_VER': '< REP FW_VER {2.4.12.0} >',
    'GET NET_SETTINGS SC': `< REP NET_SETTINGS SC MANUAL 010.020.${octets.map((octet) => String(octet).padStart(3, '0')).join('.')} 255.255.000.000 010.020.000.001 ${mac} >`,
    'GET 0 ALL': channels
      .map(
        (channel) =>
          `< REP ${channel} CHAN_NAME {C${channel}} >< REP ${channel} FREQUENCY 5${channel}0000 >< REP ${channel} TX_TYPE ULXD2 >< REP ${channel} BATT_CHARGE 080 >`,
      )
      .join(''),
  }
  socket.setNoDelay(true).on('error', () => {})
  socket.on('close', () => metering.delete(socket))
  socket.on('data', (bytes) => {
    for (const [, command = ''] of String(bytes).matchAll(/< (.*?) >/g)) {
      const rate = /METER_RATE (\d+)/.exec(command)?.[1]
      if (rate !== undefined) metering[rate === '00000' ? 'delete' : 'add'](socket)
      else socket.write(responses[command] ?? '< REP ERR >')
    }
  })
}
