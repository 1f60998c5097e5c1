/** Simulates a networked charger: it has bays instead of channels, sends no meters, and reports changes. */

import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { splitAngleFrames } from '../../../src/manufacturers/shure/strings/frames.ts'

/** A battery pack in a bay. */
export interface SimulatedPack {
  /** Percent. */
  readonly charge: number
  /** BATT_STATE. Default: derived from the charge. */
  readonly state?: string
  /** BATT_ERROR. A pack with an error reports codes instead of readings. */
  readonly error?: number
}

export interface ChargerSimulator {
  /** `tcp://127.0.0.1:…` */
  readonly url: string
  /** Received commands in order. */
  readonly commands: readonly string[]
  readonly clients: number
  /** Puts a pack into the bay, given as a pack or as its charge in percent; null empties the bay. */
  charge(bay: number, pack: number | SimulatedPack | null): void
  setStorageMode(isOn: boolean): void
  close(): Promise<void>
}

export async function startChargerSimulator(options: {
  readonly model: 'SBC220' | 'SBC240' | 'SBC441' | 'SBC840M' | 'SBRC'
  readonly name: string
  /**
   * For each bay a pack or its charge in percent; null for an empty bay. If there are more bays than the model
   * has, the additional ones belong to linked chargers.
   */
  readonly bays: readonly (number | SimulatedPack | null)[]
}): Promise<ChargerSimulator> {
  const bays = [...options.bays]
  const commands: string[] = []
  const clients = new Set<Socket>()
  const device: Record<string, string> = {
    MODEL: `{${options.model.padEnd(32)}}`,
    DEVICE_ID: `{${options.name.padEnd(31)}}`,
    FW_VER: `{${'1.4.27'.padEnd(24)}}`,
    STORAGE_MODE: 'OFF',
    'NET_SETTINGS SC': 'NET_SETTINGS SC MANUAL 010.020.010.050 255.255.255.000 010.020.010.001 00:0E:DD:C0:FF:EE',
  }
  const numbers = () => bays.map((_, index) => index + 1)
  const valuesOf = (bay: number) => toValues(bay, bays[bay - 1] ?? null)

  function answer(command: string): string[] {
    const [, bay, key = ''] = /^GET (\d) (\S+)$/.exec(command) ?? []
    if (bay !== undefined) {
      const requested = numbers().filter((number) => bay === '0' || number === Number(bay))
      const frames = requested.flatMap((number) => report(number, key))
      return frames.length === 0 ? ['REP ERR'] : frames
    }
    const name = command.replace(/^GET /, '')
    const value = device[name]
    if (value === undefined) return ['REP ERR']
    return [name.includes(' ') ? `REP ${value}` : `REP ${name} ${value}`]
  }

  function report(bay: number, key: string): string[] {
    const frames = Object.entries(valuesOf(bay)).filter(([name]) => key === 'ALL' || key === name)
    return frames.map(([name, value]) => `REP ${bay} ${name} ${value}`)
  }

  const send = (socket: Socket, contents: readonly string[]) =>
    socket.write(contents.map((content) => `< ${content} >`).join(''))
  const server = createServer((socket) => {
    clients.add(socket)
    let rest = ''
    socket.on('error', () => {}).on('close', () => clients.delete(socket))
    socket.on('data', (bytes) => {
      const frames = splitAngleFrames(rest + String(bytes))
      rest = frames.rest
      for (const command of frames.messages.map((message) => message.trim())) {
        commands.push(command)
        send(socket, answer(command))
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
    charge(bay, pack) {
      bays[bay - 1] = pack
      for (const socket of clients) send(socket, report(bay, 'ALL'))
    },
    setStorageMode(isOn) {
      device.STORAGE_MODE = isOn ? 'ON' : 'OFF'
      for (const socket of clients) send(socket, [`REP STORAGE_MODE ${device.STORAGE_MODE}`])
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of clients) socket.destroy()
      }),
  }
}

function toValues(bay: number, pack: number | SimulatedPack | null): Readonly<Record<string, string>> {
  if (pack === null) return { BATT_DETECTED: 'NO', ...codes('255', '65535'), BATT_STATE: 'NO_BATT', BATT_ERROR: '255' }
  const { charge, state, error = 0 } = typeof pack === 'number' ? { charge: pack } : pack
  if (error > 0) {
    const failed = { BATT_STATE: state ?? 'ERROR', BATT_ERROR: digits(error, 3) }
    return { BATT_DETECTED: 'YES', ...codes('254', '65534'), ...failed }
  }
  return {
    BATT_DETECTED: 'YES',
    BATT_CHARGE: digits(charge, 3),
    BATT_HEALTH: digits(100 - bay, 3),
    BATT_CYCLE: digits(40 * bay, 5),
    BATT_TIME_TO_FULL: digits(charge === 100 ? 65_529 : 2 * (100 - charge), 5),
    BATT_TEMP_C: '063',
    BATT_STATE: state ?? (charge === 100 ? 'FULL' : 'NORMAL'),
    BATT_ERROR: '000',
  }
}

/** Returns the battery fields with a code instead of a reading; the code depends on the width of the field. */
function codes(byte: string, twoBytes: string): Readonly<Record<string, string>> {
  return {
    BATT_CHARGE: byte,
    BATT_HEALTH: byte,
    BATT_TEMP_C: byte,
    BATT_CYCLE: twoBytes,
    BATT_TIME_TO_FULL: twoBytes,
  }
}

function digits(value: number, length: number): string {
  return String(value).padStart(length, '0')
}
