/**
 * The Media Control Protocol of evolution wireless G3, G4 and the 2000 series: formats commands and parses reported
 * lines. Source of syntax, attributes and units: Sennheiser TI 1254 v1.0, "Media control protocol description".
 */

import { cleanText, maxNameChars } from '../../../upstream/fields.ts'
import { fields } from './fields.ts'

/** Everything a device can report. */
export interface McpFacts {
  /** EM: microphone receiver; SR: in-ear monitor transmitter. */
  readonly kind: 'EM' | 'SR'
  readonly name: string
  readonly firmware: string
  readonly frequencyKhz: number
  /** The `Mute` setting, which mutes the audio output of an EM and the RF carrier of an SR. */
  readonly isMuted: boolean
  /** Peak since the last cycle, per antenna. */
  readonly rf1Percent: number
  readonly rf2Percent: number
  /** Current level of the active antenna. */
  readonly rfPercent: number
  readonly activeAntenna: number
  readonly hasPilot: boolean
  /** For an SR, the level of the louder channel. */
  readonly afPercent: number
  readonly afPeakPercent: number
  /** Current mutes of an EM. */
  readonly mutes: { readonly tx: boolean; readonly rf: boolean; readonly rx: boolean }
  /** True if the RF carrier of an SR is off now. */
  readonly isRfOff: boolean
  /** Null if no battery telegram is received, most likely because there is no transmitter. */
  readonly batteryPercent: number | null
  /** `AF_Peak`, `Low_Battery`, `TX_Mute`, `Low_RF_Signal`, `RF_Mute`, `RX_Mute`. */
  readonly warnings: readonly string[]
  /** Counter of configuration changes, 0 to 999. */
  readonly configIndex: number
}

export interface McpError {
  readonly code: number
  readonly text: string
  readonly command: string
}

/** Parsed content of one datagram. */
export interface McpMessage {
  readonly facts: Partial<McpFacts>
  readonly errors: readonly McpError[]
  /** Lines that could not be parsed. */
  readonly ignored: readonly string[]
  /** The keywords of all lines that could be parsed. */
  readonly keywords: readonly string[]
}

/** Parameters of the `Push` command, the only command that is sent with values. */
export interface PushRequest {
  /** Lifetime of the subscription; 0 requests a single report. */
  readonly timeoutS: number
  /** Interval between levels, a multiple of 100 ms; 0 requests no levels. */
  readonly cycleMs: number
  /** True to report the configuration, immediately and on change, and levels as soon as warnings change. */
  readonly withConfiguration: boolean
}

export function formatPushLine({ timeoutS, cycleMs, withConfiguration }: PushRequest): string {
  return formatLine('Push', timeoutS, cycleMs, withConfiguration ? 0b011 : 0)
}

/** Formats a get command, or a set command when values are given. */
export function formatLine(keyword: string, ...values: readonly (number | string)[]): string {
  return `${[keyword, ...values].join(' ')}\r`
}

export function parseDatagram(text: string): McpMessage {
  const facts: Partial<McpFacts> = {}
  const errors: McpError[] = []
  const ignored: string[] = []
  const keywords: string[] = []
  for (const line of splitLines(text)) {
    const error = parseError(line)
    const read = error === null ? parseLine(line) : {}
    if (error !== null) errors.push(error)
    else if (read === null) ignored.push(cleanText(line, maxNameChars))
    else keywords.push(keywordOf(line))
    Object.assign(facts, read)
  }
  return { facts, errors, ignored, keywords }
}

/** TI 1254 writes the keyword for the level of an SR both as `Af` and as `AF`. */
export function keywordOf(line: string): string {
  const [keyword = ''] = line.split(' ', 1)
  return keyword === 'Af' ? 'AF' : keyword
}

/**
 * TI 1254 mentions a semicolon as line end, but all its examples use CR, and a name may contain a semicolon. A
 * semicolon therefore ends a line only if there is no line break.
 */
function splitLines(text: string): string[] {
  const lines = /[\r\n]/.test(text) ? text.split(/[\r\n]+/) : text.split(';')
  return lines.map((line) => line.trim()).filter((line) => line !== '')
}

/** Parses an error such as `1010: Invalid parameter [ Squelch 3 ]`; returns null for any other line. */
function parseError(line: string): McpError | null {
  const [, code, text = '', command = ''] = /^(\d{4}):\s*([^[]*)(?:\[\s*(.*?)\s*\])?$/.exec(line) ?? []
  return code === undefined ? null : { code: Number(code), text: text.trim(), command }
}

function parseLine(line: string): Partial<McpFacts> | null {
  const [, rest = ''] = /^\S+ ?(.*)$/.exec(line) ?? []
  const read = parsers.get(keywordOf(line))
  return read === undefined ? null : read(rest)
}

const parsers = new Map<string, (rest: string) => Partial<McpFacts> | null>(
  Object.entries({
    Name: (rest) => ({ name: cleanText(rest, maxNameChars) }),
    FirmwareRevision: (rest) => (rest === '' ? null : { firmware: cleanText(rest, 32) }),
    Frequency: numberParser(1, ([frequencyKhz]) => (fields.frequency.read(frequencyKhz) ? { frequencyKhz } : null)),
    Mute: numberParser(1, ([mute]) => {
      const isMuted = fields.muteSetting.read(mute) ?? null
      return isMuted === null ? null : { isMuted }
    }),
    RF1: numberParser(3, ([, rf1Percent]) => ({ kind: 'EM', rf1Percent })),
    RF2: numberParser(3, ([, rf2Percent]) => ({ kind: 'EM', rf2Percent })),
    RF: numberParser(3, ([rfPercent, activeAntenna, pilot]) => ({
      kind: 'EM',
      rfPercent,
      hasPilot: fields.pilot.read(pilot) === true,
      activeAntenna,
    })),
    AF: (rest) => parseSrLevels(rest) ?? parseEmLevel(rest),
    States: parseStates,
    Bat(rest) {
      if (rest === '?') return { kind: 'EM', batteryPercent: null }
      const [raw] = parseNumbers(rest) ?? []
      const batteryPercent = fields.battery.read(raw) ?? null
      return batteryPercent === null ? null : { kind: 'EM', batteryPercent }
    },
    Msg(rest) {
      const tokens = rest.split(/\s+/).filter((token) => token !== '')
      return { warnings: tokens.filter((token) => token !== 'OK') }
    },
    Config: numberParser(1, ([configIndex]) => ({ configIndex })),
    // Echoed or pushed attributes that are not used.
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

/** Left and right level, then both peaks. One example has a fifth number that is not documented. */
const parseSrLevels = numberParser(4, ([left, right, peakLeft, peakRight]) => ({
  kind: 'SR',
  afPercent: Math.max(left, right),
  afPeakPercent: Math.max(peakLeft, peakRight),
}))

/**
 * Parses `States`. For an SR, the first number is the current state. For an EM, the numbers are the mutes since the
 * last cycle, which are not used, because `AF` contains the current ones.
 */
function parseStates(rest: string): Partial<McpFacts> | null {
  const [now] = parseNumbers(rest) ?? []
  return now === undefined ? null : { isRfOff: fields.carrierOff.read(now) === true }
}

type Numbers = readonly [number, number, number, number]

/** The parser returns null for lines with fewer than `minCount` integers. */
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
