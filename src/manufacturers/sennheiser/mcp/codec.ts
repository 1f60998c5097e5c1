/**
 * The Media Control Protocol of evolution wireless G3, G4 and the 2000 series: lines of text <-> facts.
 * Source of syntax, attributes and units: Sennheiser TI 1254 v1.0, "Media control protocol description".
 */

import { cleanText, maxNameChars } from '../../../upstream/fields.ts'

/** What a device told of itself, as far as it did. */
export interface McpFacts {
  /** EM hears a microphone; SR sends to in-ear receivers. */
  readonly kind: 'EM' | 'SR'
  readonly name: string
  readonly firmware: string
  readonly frequencyKhz: number
  /** The command `Mute`: the audio output of an EM, the carrier of an SR. */
  readonly isMuted: boolean
  /** The most since the last cycle, of each antenna. */
  readonly rf1Percent: number
  readonly rf2Percent: number
  /** Now, of the antenna in use. */
  readonly rfPercent: number
  readonly activeAntenna: 1 | 2
  readonly hasPilot: boolean
  /** The louder of both sides of an SR. */
  readonly afPercent: number
  readonly afPeakPercent: number
  /** Now, of an EM. */
  readonly mutes: { readonly tx: boolean; readonly rf: boolean; readonly rx: boolean }
  /** Now, of an SR. */
  readonly isRfOff: boolean
  /** Null: no telegram of a battery, so most likely no transmitter. */
  readonly batteryPercent: number | null
  /** `AF_Peak`, `Low_Battery`, `TX_Mute`, `Low_RF_Signal`, `RF_Mute`, `RX_Mute`; empty when all is well. */
  readonly warnings: readonly string[]
  /** Counts up with every change of the configuration, 0 to 999. */
  readonly configIndex: number
}

export interface McpError {
  readonly code: number
  readonly text: string
  readonly command: string
}

/** What one datagram says. */
export interface McpMessage {
  readonly facts: Partial<McpFacts>
  readonly errors: readonly McpError[]
  /** Lines that mean nothing to us. */
  readonly ignored: readonly string[]
}

/** Of our own instructions only this one has values. */
export interface PushRequest {
  /** How long it is to last; 0: once, now. */
  readonly timeoutS: number
  /** In steps of 100; 0: no levels. */
  readonly cycleMs: number
  /** Attributes of the configuration at once and on change; levels at once when warnings change. */
  readonly withConfiguration: boolean
}

export function formatPushLine({ timeoutS, cycleMs, withConfiguration }: PushRequest): string {
  return formatLine('Push', timeoutS, cycleMs, withConfiguration ? 0b011 : 0)
}

/** Asks, or sets where values are given. */
export function formatLine(keyword: string, ...values: readonly (number | string)[]): string {
  return `${[keyword, ...values].join(' ')}\r`
}

export function parseDatagram(text: string): McpMessage {
  const facts: Partial<McpFacts> = {}
  const errors: McpError[] = []
  const ignored: string[] = []
  for (const line of splitLines(text)) {
    const error = parseError(line)
    const read = error === null ? parseLine(line) : {}
    if (error !== null) errors.push(error)
    else if (read === null) ignored.push(cleanText(line, maxNameChars))
    Object.assign(facts, read)
  }
  return { facts, errors, ignored }
}

/** dBuV = 0.4 * %, and 0 dBuV at 50 ohm is -107 dBm. */
export function percentToDbm(percent: number): number {
  return 0.4 * percent - 107
}

/** Relative to peak; that the scale between its two given ends is linear is our reading. */
export function percentToDbfs(percent: number): number {
  return 0.5 * percent - 50
}

/** A sentence of the paper ends lines with a semicolon, all its examples with CR; a name may contain the one. */
function splitLines(text: string): string[] {
  const lines = /[\r\n]/.test(text) ? text.split(/[\r\n]+/) : text.split(';')
  return lines.map((line) => line.trim()).filter((line) => line !== '')
}

/** `1010: Invalid parameter [ Squelch 3 ]` */
function parseError(line: string): McpError | null {
  const [, code, text = '', command = ''] = /^(\d{4}):\s*([^[]*)(?:\[\s*(.*?)\s*\])?$/.exec(line) ?? []
  return code === undefined ? null : { code: Number(code), text: text.trim(), command }
}

function parseLine(line: string): Partial<McpFacts> | null {
  const [, keyword = '', rest = ''] = /^(\S+) ?(.*)$/.exec(line) ?? []
  // The paper writes the level of an SR as `Af` and as `AF`.
  const read = parsers.get(keyword === 'Af' ? 'AF' : keyword)
  return read === undefined ? null : read(rest)
}

const parsers = new Map<string, (rest: string) => Partial<McpFacts> | null>(
  Object.entries({
    Name: (rest) => ({ name: cleanText(rest, maxNameChars) }),
    FirmwareRevision: (rest) => (rest === '' ? null : { firmware: cleanText(rest, 32) }),
    Frequency: numberParser(1, ([frequencyKhz]) => (frequencyKhz > 0 ? { frequencyKhz } : null)),
    Mute: numberParser(1, ([mute]) => ({ isMuted: mute === 1 })),
    RF1: numberParser(3, ([, rf1Percent]) => ({ kind: 'EM', rf1Percent })),
    RF2: numberParser(3, ([, rf2Percent]) => ({ kind: 'EM', rf2Percent })),
    RF: numberParser(3, ([rfPercent, antenna, pilot]) => ({
      kind: 'EM',
      rfPercent,
      hasPilot: pilot === 1,
      ...((antenna === 1 || antenna === 2) && { activeAntenna: antenna }),
    })),
    AF: (rest) => parseSrLevels(rest) ?? parseEmLevel(rest),
    States: parseStates,
    Bat(rest) {
      if (rest === '?') return { kind: 'EM', batteryPercent: null }
      const [percent] = parseNumbers(rest) ?? []
      return percent === undefined || percent < 0 || percent > 100 ? null : { kind: 'EM', batteryPercent: percent }
    },
    Msg(rest) {
      const tokens = rest.split(/\s+/).filter((token) => token !== '')
      return { warnings: tokens.filter((token) => token !== 'OK') }
    },
    Config: numberParser(1, ([configIndex]) => ({ configIndex })),
    // Echoed or pushed, and nothing that is shown.
    ...Object.fromEntries(
      ['Push', 'Squelch', 'AfOut', 'Equalizer', 'Sensitivity', 'Mode', 'BankList', 'RfConfig'].map((keyword) => [
        keyword,
        () => ({}),
      ]),
    ),
  }),
)

const parseEmLevel = numberParser(3, ([afPercent, afPeakPercent, bits]) => ({
  afPercent,
  afPeakPercent,
  mutes: { tx: (bits & 0b0010) !== 0, rf: (bits & 0b0100) !== 0, rx: (bits & 0b1000) !== 0 },
}))

/** Both sides, then both peaks; an example has a fifth number that nothing explains. */
const parseSrLevels = numberParser(4, ([left, right, peakLeft, peakRight]) => ({
  kind: 'SR',
  afPercent: Math.max(left, right),
  afPeakPercent: Math.max(peakLeft, peakRight),
}))

/** Mutes of an EM since the last cycle, of which `AF` tells the present ones; of an SR the first number is the present. */
function parseStates(rest: string): Partial<McpFacts> | null {
  const [now] = parseNumbers(rest) ?? []
  return now === undefined ? null : { isRfOff: now === 1 }
}

type Numbers = readonly [number, number, number, number]

/** Reads a line of at least so many whole numbers; null when it is none. */
function numberParser(minCount: number, read: (values: Numbers) => Partial<McpFacts> | null) {
  return (rest: string): Partial<McpFacts> | null => {
    const values = parseNumbers(rest)
    return values === null || values.length < minCount ? null : read(values as unknown as Numbers)
  }
}

function parseNumbers(rest: string): number[] | null {
  const tokens = rest.split(/\s+/)
  return tokens.every((token) => /^-?\d{1,9}$/.test(token)) ? tokens.map(Number) : null
}
