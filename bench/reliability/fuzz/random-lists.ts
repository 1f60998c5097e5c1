/**
 * A simulated system that sends a different random list with each request: devices change IP addresses and ids, occur
 * several times or not at all, or lack fields.
 */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRandom, type Random } from './random.ts'

export interface ListSystem {
  /** The configuration entry. */
  readonly entry: object
  /** The number of lists sent so far. */
  readonly listCount: number
  /**
   * The number of different lists. Every further request is answered with the last list, so that two services end
   * with the same devices.
   */
  readonly total: number
  /** The number of different devices, and so the maximum number of receivers. */
  readonly deviceCount: number
  close(): Promise<void>
}

/** Serial number and MAC address are permanent; id and IP address change. */
interface PoolDevice {
  id: string
  ip: string
  /** No list has contained it with this id and address. Without its hardware numbers, it would be a new device. */
  isMoved: boolean
  readonly serial: string
  readonly mac: string
}

const poolSize = 60

export async function startListSystem(seed: number, total: number): Promise<ListSystem> {
  const random = createRandom(seed)
  const pool = Array.from({ length: poolSize }, (_, index) => makeDevice(index))
  let listCount = 0
  let devices: readonly object[] = []
  const server = createServer((request, response) => {
    request.resume()
    const isList = request.url === '/api/v1/devices'
    if (isList && listCount++ < total) devices = drawList(random, pool)
    const body = isList ? { devices } : { error: 'not found' }
    response.writeHead(isList ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const limits = { poll_interval: 1, calls_per_second: 10_000, burst: 10_000 }
  return {
    entry: { code: 'lists', plugin: 'shure', config: { api_base_url: url, shared_key: 'any', ...limits } },
    get listCount() {
      return listCount
    },
    total,
    deviceCount: poolSize,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function makeDevice(index: number): PoolDevice {
  const hex = index.toString(16).padStart(2, '0').toUpperCase()
  const [serial, mac] = [`LIST-${index}A`, `00:0E:DD:20:00:${hex}`]
  return { id: `list-${index}`, ip: `172.20.1.${index + 1}`, isMoved: true, serial, mac }
}

/** Changes or swaps some devices' IP addresses and ids; returns a random selection, in random order and spelling. */
function drawList(random: Random, pool: readonly PoolDevice[]): object[] {
  for (let changes = random.integer(0, 3); changes > 0; changes--) {
    const [first, second] = [random.pick(pool), random.pick(pool)]
    const kind = random.integer(0, 2)
    if (kind === 0) first.ip = `172.20.2.${random.integer(1, 250)}`
    else if (kind === 1) [first.ip, second.ip] = [second.ip, first.ip]
    else [first.id, second.id] = [second.id, first.id]
    for (const device of kind === 0 ? [first] : [first, second]) device.isMoved = true
  }
  const drawn = Array.from({ length: random.integer(0, poolSize) }, () => random.pick(pool))
  return drawn.map((device) => formatItem(random, device))
}

function formatItem(random: Random, device: PoolDevice): object {
  const { id, ip, serial, mac, isMoved } = device
  device.isMoved = false
  const serialText = random.chance(0.3) ? ` ${serial.toLowerCase()} ` : serial
  const macText = mac.replaceAll(':', random.pick([':', '-', '']))
  return {
    device_id: id,
    device_name: `Rack ${serial}`,
    device_type: 'receiver',
    model: 'ULXD4',
    status: random.chance(0.9) ? 'online' : 'offline',
    ip,
    ...((isMoved || random.chance(0.9)) && { serial_number: serialText }),
    ...((isMoved || random.chance(0.9)) && { mac_address: random.chance(0.3) ? macText.toLowerCase() : macText }),
    channels: [{ channel: 1, name: 'Voice', frequency: '540.000', audio_level: -20, rf_level: -60 }],
    transmitters: [],
  }
}
