/**
 * Reads the details of a Spectera base station: antennas, supplies, fans, clock, interfaces and activation, with the
 * words of the API. Newer firmware may have other words, which are shown as they are and are no faults.
 */

import type { ReceiverDetails } from '../../../contract/receivers.ts'
import { isRecord, type Json } from '../../../domain/json.ts'
import { type ReadFault, readFault, toFaultDetails } from '../../../upstream/faults.ts'
import { withoutUndefined } from '../../../upstream/fields.ts'
import { spectera as fields, readWord } from './fields.ts'
import {
  antennaPrefix,
  entitlementPath,
  interfacePath,
  listBodies,
  property,
  type Resources,
  statePath,
} from './resources.ts'

const psuPath = '/api/health/psu'
const temperaturePath = '/api/health/tempstateoverall'
const fans = ['FAN_1', 'FAN_2', 'FAN_3'] as const
const fanPath = (fan: string) => `/api/health/fan/${fan}/errorstate`
const madis = ['madi1', 'madi2'] as const

type Interface = NonNullable<NonNullable<ReceiverDetails['interfaces']>['aoip']>

export const baseStationPaths: readonly string[] = [
  ...[statePath, psuPath, temperaturePath, ...fans.map(fanPath), entitlementPath],
  ...['aoip', ...madis, 'wordclock'].map(interfacePath),
]

export function readBaseStation(resources: Resources): ReceiverDetails | undefined {
  const details = withoutUndefined<ReceiverDetails>({
    ...toFaultDetails(readFaults(resources)),
    state: readWord(property(resources, statePath, 'state')),
    warnings: readWarnings(resources),
    temperature: readWord(property(resources, temperaturePath, 'value')),
    antennas: readAntennas(resources),
    supplies: ofParts(['psu1', 'psu2'] as const, (name) => readWord(property(resources, psuPath, name))),
    fans: ofParts(fans, (fan) => readWord(property(resources, fanPath(fan), 'value'))),
    clock: readClock(resources),
    interfaces: ofParts(['aoip', ...madis] as const, (name) =>
      name === 'aoip' ? readAoip(resources) : readMadi(resources, name),
    ),
    entitlement: fields.entitlement.read(resources.get(entitlementPath)),
  })
  return Object.keys(details).length === 0 ? undefined : details
}

/** A supply that was never connected is not a fault. */
function readFaults(resources: Resources): readonly ReadFault[] {
  const read = (path: string, name: string) => property(resources, path, name)
  const antennas = listBodies(resources, antennaPrefix)
  const ofAntenna = ({ antennaPortId }: Json) => `antenna ${antennaPortId}`
  return [
    readFault(fields.state, read(statePath, 'state')),
    readFault(fields.psu1, read(psuPath, 'psu1'), 'psu1'),
    readFault(fields.psu2, read(psuPath, 'psu2'), 'psu2'),
    ...fans.map((fan) => readFault(fields.fan, read(fanPath(fan), 'value'), fan)),
    ...antennas.map((antenna) => readFault(fields.antennaState, antenna.state, ofAntenna(antenna))),
    readFault(fields.temperature, read(temperaturePath, 'value'), 'temperature'),
    ...antennas.map((antenna) => readAntennaHeat(antenna, ofAntenna(antenna))),
  ]
}

function readAntennaHeat({ warningHighTemperature }: Json, part: string): ReadFault {
  const isHot = fields.antennaHot.read(warningHighTemperature)
  if (isHot !== true) return isHot === undefined ? undefined : null
  return { fault: 'device_too_hot', part, word: 'warningHighTemperature' }
}

function readWarnings(resources: Resources): ReceiverDetails['warnings'] {
  const warnings = fields.deviceWarnings.read(property(resources, statePath, 'warnings'))
  return warnings?.flatMap((warning) => readWord(warning) ?? [])
}

function readAntennas(resources: Resources): ReceiverDetails['antennas'] {
  const antennas = listBodies(resources, antennaPrefix).map((antenna) =>
    withoutUndefined({
      port: String(antenna.antennaPortId),
      state: readWord(antenna.state) ?? null,
      type: fields.antennaType.read(antenna.type),
      error: fields.antennaError.read(antenna.errorStateDetails),
      temperature_c: fields.antennaTemperature.read(antenna.temperature),
      too_hot: fields.antennaHot.read(antenna.warningHighTemperature),
      packet_errors: fields.packetErrors.read(antenna.warningPacketError),
      interference: fields.antennaInterference.read(antenna.interference),
    }),
  )
  return antennas.length === 0 ? undefined : antennas.sort((a, b) => a.port.localeCompare(b.port))
}

/** The source of the word clock output, and the state of the word clock input. */
function readClock(resources: Resources): ReceiverDetails['clock'] {
  const read = (name: string) => property(resources, interfacePath('wordclock'), name)
  const source = fields.wordClockOutput.read(read('outputStatus'))
  const word_clock = fields.wordClockInput.read(read('inputStatus'))
  if (source === undefined && word_clock === undefined) return undefined
  return { source: source ?? null, word_clock: word_clock ?? null }
}

function readAoip(resources: Resources): Interface | undefined {
  const status = resources.get(interfacePath('aoip'))
  if (!isRecord(status)) return undefined
  return {
    type: fields.aoipType.read(status.aoIpType ?? status.audioNetworkType) ?? null,
    status: fields.aoipStatus.read(status.status) ?? null,
  }
}

function readMadi(resources: Resources, name: string): Interface | undefined {
  const status = resources.get(interfacePath(name))
  if (!isRecord(status)) return undefined
  return {
    type: fields.madiType.read(status.moduleType) ?? null,
    status: fields.madiInput.read(status.inputStatus) ?? null,
    clock_source: fields.madiOutput.read(status.outputStatus) ?? null,
  }
}

/** Returns undefined if none of the parts is reported. */
function ofParts<Name extends string, Value>(names: readonly Name[], read: (name: Name) => Value | undefined) {
  const parts = names.flatMap((name) => {
    const value = read(name)
    return value === undefined ? [] : [[name, value] as const]
  })
  return parts.length === 0 ? undefined : (Object.fromEntries(parts) as { [Key in Name]?: Value })
}
