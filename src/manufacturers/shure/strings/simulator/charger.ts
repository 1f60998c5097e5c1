/** A charger on the network: bays instead of channels, nothing metered, and a report of whatever changes. */

import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { cutAngles } from '../frames.ts'

export interface ChargerSimulator {
  /** `tcp://127.0.0.1:…` */
  readonly url: string
  /** Commands it got, in their order. */
  readonly commands: readonly string[]
  readonly clients: number
  /** Percent, or null for an empty bay. */
  charge(bay: number, percent: number | null): void
  close(): Promise<void>
}

export async function startChargerSimulator(options: {
  readonly model: 'SBC220' | 'SBC240' | 'SBRC'
  readonly name: string
  /** Percent, bay by bay; null for an empty one. */
  readonly bays: readonly (number | null)[]
}): Promise<ChargerSimulator> {
  const bays = [...options.bays]
  const commands: string[] = []
  const clients = new Set<Socket>()
  const device: Readonly<Record<string, string>> = {
    MODEL: `{${options.model.padEnd(32)}}`,
    DEVICE_ID: `{${options.name.padEnd(31)}}`,
    FW_VER: `{${'1.4.27'.padEnd(24)}}`,
    'NET_SETTINGS SC': 'NET_SETTINGS SC MANUAL 010.020.010.050 255.255.255.000 010.020.010.001 00:0E:DD:C0:FF:EE',
  }

  function wordsOf(bay: number): Readonly<Record<string, string>> {
    const percent = bays[bay - 1] ?? null
    if (percent === null) {
      return {
        BATT_DETECTED: 'NO',
        BATT_CHARGE: '255',
        BATT_HEALTH: '255',
        BATT_CYCLE: '65535',
        BATT_TIME_TO_FULL: '65535',
      }
    }
    const minutesToFull = percent === 100 ? 65_529 : 2 * (100 - percent)
    return {
      BATT_DETECTED: 'YES',
      BATT_CHARGE: digits(percent, 3),
      BATT_HEALTH: digits(100 - bay, 3),
      BATT_CYCLE: digits(40 * bay, 5),
      BATT_TIME_TO_FULL: digits(minutesToFull, 5),
    }
  }

  function answer(command: string): string[] {
    const [, bay, key = ''] = /^GET (\d) (\S+)$/.exec(command) ?? []
    if (bay !== undefined) {
      const asked = bays.map((_, at) => at + 1).filter((one) => bay === '0' || one === Number(bay))
      const words = asked.flatMap((one) => {
        const word = wordsOf(one)[key]
        return word === undefined ? [] : [`REP ${one} ${key} ${word}`]
      })
      return words.length === 0 ? ['REP ERR'] : words
    }
    const name = command.replace(/^GET /, '')
    const word = device[name]
    if (word === undefined) return ['REP ERR']
    return [name.includes(' ') ? `REP ${word}` : `REP ${name} ${word}`]
  }

  const say = (socket: Socket, inner: readonly string[]) => socket.write(inner.map((one) => `< ${one} >`).join(''))
  const server = createServer((socket) => {
    clients.add(socket)
    let rest = ''
    socket.on('error', () => {}).on('close', () => clients.delete(socket))
    socket.on('data', (bytes) => {
      const cut = cutAngles(rest + String(bytes))
      rest = cut.rest
      for (const command of cut.messages.map((one) => one.trim())) {
        commands.push(command)
        say(socket, answer(command))
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    commands,
    get clients() {
      return clients.size
    },
    charge(bay, percent) {
      bays[bay - 1] = percent
      const words = Object.entries(wordsOf(bay)).map(([key, word]) => `REP ${bay} ${key} ${word}`)
      for (const socket of clients) say(socket, words)
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of clients) socket.destroy()
      }),
  }
}

function digits(value: number, length: number): string {
  return String(value).padStart(length, '0')
}
