/** Initial resources of a simulated SSC 2 device, with bodies as in the OpenAPI descriptions. */

import { isRecord } from '../../src/domain/json.ts'
import { isSilenced, type Silence } from '../show/silence.ts'

/** The packs of a Spectera, which have both facts and levels. */
export const packsPath = '/api/mts/paired/all'

/** The API version of a Spectera: 17 with firmware 1.3, 18 from firmware 1.4.1. */
export type SpecteraApi = 17 | 18

export function createInitialResources(
  product: string,
  serial: string,
  api: SpecteraApi = 18,
): Record<string, unknown> {
  if (product.startsWith('EWDX')) return { ...common(product, serial), ...ewdx(Number(product[4])) }
  const resources = { ...common(product, serial), ...spectera() }
  return api === 18 ? resources : toApi17(resources)
}

/** Public clients name these differences: paths of meters and of the audio network, and some properties. */
function toApi17({
  '/api/audio/metering': metering,
  '/api/audio/interface/aoip/status': network,
  ...resources
}: ReturnType<typeof common> & ReturnType<typeof spectera>): Record<string, unknown> {
  const { aoIpIn, aoIpOut, ...others } = metering
  const { aoIpType, ...status } = network
  const madi = ({ outputStatus: { outputClockSource, ...output }, ...input }: typeof madiStatus) => ({
    ...input,
    outputStatus: { clockSource: outputClockSource, ...output },
  })
  return {
    ...resources,
    '/api/ssc/version': { protocol: '2.3', schema: '17.0' },
    '/api/firmware/update/state': { deviceVersion: '1.3.0', state: 'Idle', progress: 0, lastStatus: 'None' },
    '/api/audio/levels': { ...others, danteIn: aoIpIn, danteOut: aoIpOut },
    '/api/audio/interface/audionetwork/status': { ...status, audioNetworkType: aoIpType },
    '/api/audio/interface/madi1/status': madi(madiStatus),
  }
}

function common(product: string, serial: string) {
  return {
    '/api/ssc/version': { protocol: '2.3', schema: '1.7' },
    '/api/device/identity': {
      product,
      hardwareRevision: '1',
      serial,
      vendor: 'Sennheiser electronic GmbH & Co. KG',
    },
    '/api/device/site': { deviceName: 'RACK', location: 'Stage left', position: '' },
    '/api/device/state': { state: 'Normal', warnings: [] },
    '/api/firmware/update/state': { deviceVersion: '4.0.2', state: 'Idle', progress: 0, lastStatus: 'None' },
  }
}

function ewdx(count: number): Record<string, unknown> {
  const channels = Array.from({ length: count }, (_, index) => createEwdxChannel(index))
  const device = {
    '/api/rf': { code: 'R1-9', ranges: [{ start: 520_000, end: 607_800, stepSize: 25 }] },
    '/api/rf/transmission': { mode: 'Standard', presetSpacing: 25 },
    '/api/rf/encryption': { enabled: false },
  }
  return Object.assign(device, ...channels)
}

function createEwdxChannel(index: number): Record<string, unknown> {
  const channel = `/api/channel/${index}`
  const transmitter = `/api/transmitters/${index}`
  return {
    [channel]: {
      name: `MIC ${index + 1}`,
      mute: false,
      gain: 12,
      outputLevel: 0,
      mates: [`TX${index + 1}`],
      audio: [`Out${index + 1}`],
      eventCounter: 0,
    },
    [`${channel}/warnings`]: [],
    [`${channel}/signalStrengthIndicator`]: { value: -57 },
    [`${channel}/signalQualityIndicator`]: { value: 98 },
    [`${channel}/diversityIndicator`]: { value: 1 },
    [`${channel}/level`]: { value: -22.5 },
    [`/api/rf/channels/${index}`]: { frequency: 538_200 + 600 * index, presets: { type: 'None' } },
    [transmitter]: {
      type: 'EW_DX_SKM_S',
      capsule: 'MMD_835',
      version: '4.0.2',
      name: `HAND ${index + 1}`,
      mute: false,
      trim: 0,
      lowcut: '80Hz',
      lock: false,
    },
    [`${transmitter}/battery`]: { type: 'Battery', gauge: 83, lifetime: 412 },
    [`${transmitter}/warnings`]: [],
  }
}

const lockedOutput = {
  ...{ outputClockSource: 'Internal48kHz', clockSourceStatus: 'Locked', fallbackToInternalClockActive: false },
  sampleRateHz: 48_000,
}

const madiStatus = {
  moduleType: 'Coax',
  inputStatus: { status: 'NoToggle', sampleRateHz: 0, mute: true, channels: 0, fewerChannelsThanUsed: false },
  outputStatus: { ...lockedOutput, mute: false, channels: 64 },
}

function spectera() {
  const pack = {
    ...{ type: 'SEK', serial: '0000000000', state: 'Connected', rfChannelId: 0, batteryLow: false, rssi: -61 },
    ...{ versionMismatch: false, micTestToneEnabled: false, commandState: 'Released' },
  }
  const battery = { batteryFillLevel: 74, batteryRuntime: 301 }
  return {
    '/api/rf/channels': [
      { rfChannelId: 0, frequency: 542_000, txPower: 50, bandwidthMode: 8000, rfState: 'RfActive' },
      { rfChannelId: 1, frequency: 558_000, txPower: 50, bandwidthMode: 8000, rfState: 'RfMuted' },
    ],
    [packsPath]: [
      {
        ...pack,
        ...battery,
        mtUid: 11,
        name: 'LEAD',
        micAudiolinkId: 0,
        iemAudiolinkId: 0,
        micLqi: 4,
        dominantAntenna: 'a',
      },
      {
        ...pack,
        ...battery,
        mtUid: 12,
        name: 'BASS',
        micAudiolinkId: 3,
        iemAudiolinkId: -1,
        micLqi: 1,
        dominantAntenna: 'b',
      },
      {
        ...pack,
        ...battery,
        mtUid: 13,
        name: 'DRUMS',
        micAudiolinkId: -1,
        iemAudiolinkId: 2,
        micLqi: 0,
        dominantAntenna: 'c',
      },
    ],
    '/api/audio/outputs': Array.from({ length: outputs }, (_, outputId) => ({
      outputId,
      micAudiolinkId: [0, 3][outputId] ?? -1,
      aoIpEnableIfCommandIsDisabled: 'On',
      madi1EnableIfCommandIsDisabled: 'Off',
      madi2EnableIfCommandIsDisabled: 'Off',
    })),
    '/api/rf/antennas': ['a', 'b', 'c', 'd'].map((antennaPortId) => ({
      ...{ antennaPortId, state: antennaPortId < 'c' ? 'Initialized' : 'Unconnected' },
      ...{ warningHighTemperature: false, warningPacketError: false, errorStateDetails: 'NA' },
      ...(antennaPortId < 'c'
        ? { type: 'UHF', temperature: 41, interference: { severity: 'None', totalPower: -96 } }
        : { type: 'NA', temperature: -55 }),
    })),
    '/api/device/entitlement': { status: 'ACTIVATED', name: 'Spectera', code: 'NOT-A-REAL-CODE' },
    '/api/audio/interface/aoip/status': { aoIpType: 'Dante', status: 'Locked', sampleRateHz: 48_000, mute: false },
    '/api/audio/interface/madi1/status': madiStatus,
    '/api/audio/interface/madi2/status': { ...madiStatus, moduleType: 'None' },
    '/api/audio/interface/wordclock/status': {
      inputStatus: { status: 'Unlocked', sampleRateHz: 0 },
      outputStatus: lockedOutput,
    },
    '/api/health/psu': { psu1: 'connected', psu2: 'unconnected' },
    '/api/health/tempstateoverall': { value: 'normal' },
    ...Object.fromEntries([1, 2, 3].map((fan) => [`/api/health/fan/FAN_${fan}/errorstate`, { value: 'Ok' }])),
    '/api/audio/metering': meters([
      { peak: -11.5, rms: -20 },
      { peak: -30, rms: -42.5 },
    ]),
  }
}

const outputs = 32
const silentDbfs = -127.5

/**
 * Returns meters with these levels on the first outputs of the audio network interface, and silence everywhere else.
 */
export function meters(levels: readonly { readonly peak: number; readonly rms: number }[]) {
  const createLists = (from: typeof levels) => ({
    peak: Array.from({ length: outputs }, (_, index) => from[index]?.peak ?? silentDbfs),
    rms: Array.from({ length: outputs }, (_, index) => from[index]?.rms ?? silentDbfs),
  })
  const silent = ['madi1In', 'madi2In', 'madi1Out', 'madi2Out'].map((name) => [name, createLists([])])
  const aoIp = { aoIpIn: createLists([]), aoIpOut: createLists(levels) }
  return { ...Object.fromEntries(silent), ...aoIp, updateCounter: 0 }
}

/** Returns packs without silenced levels; any other body is returned unchanged. */
export function withoutLevelsOf(body: unknown, silence: Silence | null): unknown {
  if (!Array.isArray(body)) return body
  return body.map((pack) => {
    if (!isRecord(pack) || !isSilenced(silence, { isLevel: true, channel: Number(pack.micAudiolinkId) + 1 }))
      return pack
    const { rssi, ...facts } = pack
    return facts
  })
}
