/** A manufacturer's system whose every list is another draw from one stock of devices: moved, renamed, twice, half told. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRandom, type Random } from './random.ts'

export interface ListSystem {
  /** Its entry in the configuration. */
  readonly entry: object
  /** Lists given so far. */
  readonly lists: number
  /** After this the last list is given again and again: two readers see the same house. */
  readonly total: number
  /** Different devices there are: so many receivers at most. */
  readonly stock: number
  close(): Promise<void>
}

/** What stays with a device for good is its serial number and its MAC address. */
interface Stocked {
  id: string
  ip: string
  readonly serial: string
  readonly mac: string
}

const stockSize = 60

export async function startLists(seed: number, total: number): Promise<ListSystem> {
  const random = createRandom(seed)
  const stock = Array.from({ length: stockSize }, (_, at) => makeDevice(at))
  let lists = 0
  let devices: readonly object[] = []
  const server = createServer((request, response) => {
    request.resume()
    const isList = request.url === '/api/v1/devices'
    if (isList && lists++ < total) devices = drawList(random, stock)
    const body = isList ? { devices } : { error: 'not found' }
    response.writeHead(isList ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const pace = { poll_interval: 1, calls_per_second: 10_000, burst: 10_000 }
  return {
    entry: { code: 'lists', plugin: 'shure', config: { api_base_url: url, shared_key: 'any', ...pace } },
    get lists() {
      return lists
    },
    total,
    stock: stockSize,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function makeDevice(at: number): Stocked {
  const hex = at.toString(16).padStart(2, '0').toUpperCase()
  return { id: `list-${at}`, ip: `172.20.1.${at + 1}`, serial: `LIST-${at}A`, mac: `00:0E:DD:20:00:${hex}` }
}

/** Some devices moved or got another's address or id; then some of them, in any order, told in any spelling. */
function drawList(random: Random, stock: readonly Stocked[]): object[] {
  for (let changes = random.whole(0, 3); changes > 0; changes--) {
    const [one, other] = [random.pick(stock), random.pick(stock)]
    const kind = random.whole(0, 2)
    if (kind === 0) one.ip = `172.20.2.${random.whole(1, 250)}`
    else if (kind === 1) [one.ip, other.ip] = [other.ip, one.ip]
    else [one.id, other.id] = [other.id, one.id]
  }
  const drawn = Array.from({ length: random.whole(0, stockSize) }, () => random.pick(stock))
  return drawn.map((device) => tell(random, device))
}

function tell(random: Random, { id, ip, serial, mac }: Stocked): object {
  const spelled = random.chance(0.3) ? ` ${serial.toLowerCase()} ` : serial
  const separated = mac.replaceAll(':', random.pick([':', '-', '']))
  return {
    device_id: id,
    device_name: `Rack ${serial}`,
    device_type: 'receiver',
    model: 'ULXD4',
    status: random.chance(0.9) ? 'online' : 'offline',
    ip,
    ...(random.chance(0.9) && { serial_number: spelled }),
    ...(random.chance(0.9) && { mac_address: random.chance(0.3) ? separated.toLowerCase() : separated }),
    channels: [{ channel: 1, name: 'Voice', frequency: '540.000', audio_level: -20, rf_level: -60 }],
    transmitters: [],
  }
}
