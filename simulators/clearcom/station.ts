/**
 * Simulates Clear-Com stations over HTTP, after the maker's JSON schemas (API 1.0.1). The token of an Arcadia expires
 * unless it is renewed. A FreeSpeak II Base II requires Basic credentials. Only the schemas need no password. Socket.IO
 * is not simulated. A restart closes all connections and invalidates all tokens.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { isRecord, parseJson } from '../../src/domain/json.ts'
import { createFaultSwitch, createRequestLog } from '../show/device-api.ts'
import { type ApiResponse, applyFault, type Fault, send } from '../show/faults.ts'
import type { DeviceState, ShowChannel } from '../show/show.ts'
import { isSilenced, type Silence } from '../show/silence.ts'
import { createShowContext, type Simulator, type SimulatorOptions } from '../show/simulator.ts'

export interface ClearcomOptions extends Omit<SimulatorOptions, 'tls' | 'rateLimit' | 'richList' | 'pushesPerSecond'> {
  readonly password?: string
  /** A token that is not renewed expires after this time; default 60. */
  readonly tokenSeconds?: number
}

export interface ClearcomStations extends Simulator {
  /** One address for each station. */
  readonly urls: readonly string[]
  /** Requests in progress. */
  readonly active: number
  setSilence(silence: Silence | null): void
  /** Sends these fields in every pack's status instead of the simulated ones; undefined omits a field. */
  setStatus(fields: Readonly<Record<string, unknown>>): void
  setPassword(password: string): void
  restart(): void
}

/** Starts one station for each receiver in the show, at the given port and the following ones. */
export async function startClearcomSimulator(options: ClearcomOptions = {}): Promise<ClearcomStations> {
  const stations = new SimulatedStations(options)
  await stations.listen()
  return stations
}

const user = 'admin'
const unauthorized = { status: 401, body: { ok: false, message: 'Unauthorized' } }
const notFound = { status: 404, body: { ok: false, message: 'Not found' } }

class SimulatedStations implements ClearcomStations {
  readonly manufacturer = 'clearcom'
  readonly urls: string[] = []
  readonly requests
  readonly show
  readonly elapsed
  readonly setFault
  active = 0
  readonly #options: ClearcomOptions
  readonly #record
  readonly #takeFault: (path: string) => Fault | null
  readonly #servers: Server[] = []
  readonly #sockets = new Set<Socket>()
  /** Token -> expiry, as a `performance.now()` time. */
  readonly #tokens = new Map<string, number>()
  #password: string
  #silence: Silence | null = null
  #status: Readonly<Record<string, unknown>> = {}
  #version = 0

  constructor(options: ClearcomOptions) {
    this.#options = options
    this.#password = options.password ?? 'intercom-password'
    const { show, elapsed } = createShowContext('clearcom', 1, options)
    this.show = show
    this.elapsed = elapsed
    const { log, record } = createRequestLog(options.now ?? Date.now)
    this.requests = log
    this.#record = record
    const faults = createFaultSwitch(() => this.#dropConnections())
    this.setFault = faults.set
    this.#takeFault = faults.take
  }

  get baseUrl(): string {
    return this.urls[0] ?? ''
  }

  get config() {
    return { devices: this.urls, password: this.#password }
  }

  get push() {
    const nothing = () => {}
    return { connections: 0, sent: 0, flush: nothing, pause: nothing, resume: nothing, send: nothing }
  }

  get deviceCount(): number {
    return this.show.countAt(this.elapsed(), this.manufacturer)
  }

  async listen(): Promise<void> {
    const { host = '127.0.0.1', port = 0 } = this.#options
    for (const [index, { device }] of this.show.devicesAt(this.elapsed(), this.manufacturer).entries()) {
      const server = createServer((request, response) => this.#handle(device.id, request, response))
      server.on('connection', (socket: Socket) => {
        this.#sockets.add(socket)
        socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket))
      })
      await new Promise<void>((resolve, reject) =>
        server.once('error', reject).listen(port === 0 ? 0 : port + index, host, resolve),
      )
      this.#servers.push(server)
      this.urls.push(`http://${host}:${(server.address() as AddressInfo).port}`)
    }
  }

  setSilence(silence: Silence | null): void {
    this.#silence = silence
  }

  setStatus(fields: Readonly<Record<string, unknown>>): void {
    this.#status = fields
  }

  setPassword(password: string): void {
    this.#password = password
    this.#tokens.clear()
  }

  restart(): void {
    this.#tokens.clear()
    this.#dropConnections()
  }

  async close(): Promise<void> {
    const closed = this.#servers.map((server) => new Promise((resolve) => server.close(resolve)))
    this.#dropConnections()
    await Promise.all(closed)
  }

  #dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async #handle(id: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.active += 1
    response.on('close', () => {
      this.active -= 1
    })
    const { method = 'GET', url: path = '/' } = request
    const entry = this.#record({ method, path, headers: request.headers })
    const body = await readBody(request).catch(() => null)
    const state = this.show.deviceAt(this.elapsed(), id)
    if (body === null || !state?.online) return void request.socket.destroy()
    const reply = this.#reply(state, { method, path, body, authorization: request.headers.authorization })
    entry.status = reply.status
    const fault = this.#takeFault(path)
    if (fault === null) send(response, reply)
    else applyFault(fault, request, response, reply)
  }

  #reply(state: DeviceState, request: StationRequest): ApiResponse {
    const { method, path, body } = request
    const isBaseTwo = isBaseTwoModel(state)
    if (path === '/api/1/schemas/clearcom_api.json') {
      return {
        status: 200,
        body: { openapi: '3.0.0', info: { title: 'RESTful Route Definitions for Clear-Com Products' } },
      }
    }
    if (!isBaseTwo && method === 'POST' && path === '/auth/local/login') return this.#logIn(body)
    const denial = isBaseTwo ? this.#checkBasic(request) : this.#checkToken(request)
    if (denial !== null) return denial
    if (!isBaseTwo && method === 'POST' && path === '/auth/refresh') return this.#renew(request)
    if (method !== 'GET') return { status: 405, body: { ok: false, message: 'Not allowed' } }
    const found = this.#resources(state)[path.replace(/\/$/, '')]
    return found === undefined ? notFound : { status: 200, body: found }
  }

  #resources(state: DeviceState): Readonly<Record<string, unknown>> {
    const endpoints = [...state.channels.map((channel) => this.#toPack(channel, state)), ...toOtherEndpoints(state)]
    const device = toDevice(state)
    if (isBaseTwoModel(state))
      return { '/api/1/devices': [device], '/api/1/devices/1': device, '/api/1/devices/1/endpoints': endpoints }
    return {
      '/api/1/devices/1': device,
      '/api/1/devices/endpoints': endpoints,
      '/api/2/rolesets': state.channels.map(({ channel, name }) => ({ id: channel, name, label: name, sessions: {} })),
    }
  }

  #checkBasic({ authorization }: StationRequest): ApiResponse | null {
    const expected = `Basic ${Buffer.from(`${user}:${this.#password}`).toString('base64')}`
    if (authorization === expected) return null
    return { status: 401, headers: { 'www-authenticate': 'Basic realm="CCM"' }, body: 'Unauthorized' }
  }

  #checkToken({ authorization }: StationRequest): ApiResponse | null {
    const token = authorization?.replace(/^Bearer /, '') ?? ''
    return (this.#tokens.get(token) ?? 0) > performance.now() ? null : unauthorized
  }

  #logIn(body: unknown): ApiResponse {
    const isValid = isRecord(body) && body.logemail === user && body.logpassword === this.#password
    return isValid ? this.#issueToken() : unauthorized
  }

  /** A renewal names the version of the present token, which it replaces. */
  #renew({ body, authorization = '' }: StationRequest): ApiResponse {
    const token = authorization.replace(/^Bearer /, '')
    if (!isRecord(body) || body.jwtversion !== versionOf(token)) return unauthorized
    this.#tokens.delete(token)
    return this.#issueToken()
  }

  #issueToken(): ApiResponse {
    this.#version += 1
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
    const token = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ ver: this.#version })}.c2lnbmF0dXJl`
    this.#tokens.set(token, performance.now() + 1000 * (this.#options.tokenSeconds ?? 60))
    return { status: 200, body: { jwt: token } }
  }

  #toPack(channel: ShowChannel, state: DeviceState) {
    const id = channel.channel
    return {
      ...{ id, device_id: 1, gid: `0-${id}`, type: 'FSII-BP', res: `/api/1/devices/1/endpoints/${id}` },
      ...{ label: `BP ${id}`, versionSW: state.device.firmware_version, updateRequired: false },
      role: { id, label: channel.name, isDefault: false, res: `/api/1/roles/${id}` },
      liveStatus: this.#toStatus(channel),
      // The talk keys of a pack, which are not read.
      ...(isBaseTwoModel(state) && { details: {} }),
    }
  }

  /** The station keeps a pack that is off, without a status. */
  #toStatus({ channel, transmitter }: ShowChannel): object {
    if (transmitter === null) return {}
    const { battery, minutes_left, rf_level } = transmitter
    const rssi = Math.max(0, Math.min(60, rf_level + 110))
    const levels = { rssi, rssi2: Math.max(0, rssi - 4), linkQuality: 80 + (rssi % 20), frameErrorRate: 0 }
    const facts = {
      association: { dpId: channel },
      ...{ frequencyType: '1.9', syncState: 'good', antennaIndex: 1 + (channel % 2), antennaSlot: channel },
      ...{ batteryType: 'Li-Ion', batteryLevel: Math.round(battery) },
      longevity: { hours: Math.floor(minutes_left / 60), minutes: Math.floor(minutes_left % 60) },
    }
    const isSilent = (isLevel: boolean) => isSilenced(this.#silence, { isLevel, channel })
    const status = { status: 'online', ...(isSilent(true) ? {} : levels), ...(isSilent(false) ? {} : facts) }
    return { ...status, ...this.#status }
  }
}

interface StationRequest {
  readonly method: string
  readonly path: string
  readonly body: unknown
  readonly authorization: string | undefined
}

function isBaseTwoModel({ device }: DeviceState): boolean {
  return device.model === 'FSII-BASE-II'
}

function toDevice({ device }: DeviceState): object {
  const { name, model, ip, subnet_mask, gateway, mac_address, serial_number, firmware_version } = device
  const network = [
    { interface: 'admin', mode: 'static', staticIP: ip, netmask: subnet_mask, gateway, mac: mac_address },
    { interface: 'ivc', mode: 'dhcp', mac: mac_address?.replace(/..$/, 'FE') },
  ]
  const uuid = `4c1e0a52-7d3b-4f86-9a10-${String(serial_number).padStart(12, '0').slice(-12)}`
  const identity = { device_id: 1, device_label: name, deviceType_name: model, device_uuid: uuid }
  const isBaseTwo = model === 'FSII-BASE-II'
  return {
    ...{ ...identity, device_netMode: 'static', device_ipAddress: ip, isHost: true },
    ...{ res: '/api/1/devices/1', versionSW: firmware_version, uptime: 86_400 },
    device_settings: { network, device_id: 1, device_uuid: uuid, deviceType_name: model },
    device_liveStatus: {
      status: 'online',
      ...(isBaseTwo && { os: 'FSII', osVersion: firmware_version }),
      fanStatus: [{ Name: 'Fan 1', SpeedPercentageOfMax: 40 }],
      temperatureSensors: [{ sensorName: 'CPU', temperatureCentigrade: 51 }],
    },
  }
}

/** Two antennas and a wired panel. */
function toOtherEndpoints({ channels }: DeviceState): object[] {
  const first = Math.max(0, ...channels.map(({ channel }) => channel)) + 1
  const other = (id: number, type: string, label: string) => ({
    id,
    device_id: 1,
    type,
    label,
    res: `/api/1/devices/1/endpoints/${id}`,
  })
  const online = { liveStatus: { status: 'online' } }
  return [
    { ...other(first, 'FSII-Antenna', 'Stage left'), isGateway: true, frequencyType: '1.9', ...online },
    { ...other(first + 1, 'FSII-Antenna', 'Stage right'), isGateway: true, frequencyType: '1.9', ...online },
    { ...other(first + 2, 'V-SERIES', 'Panel'), ...online },
  ]
}

function versionOf(token: string): unknown {
  const claims = parseJson(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))
  return isRecord(claims) ? claims.ver : undefined
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  let text = ''
  for await (const chunk of request) {
    text += String(chunk)
    if (text.length > 64 * 1024) throw new RangeError('body too large')
  }
  return parseJson(text)
}
