/** Records the traffic of one source, and writes it to a capture without private values. */

import { randomInt } from 'node:crypto'
import { isIPv4 } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { CaptureEnd } from '../../domain/captures.ts'
import type { DeviceReport } from '../../domain/equipment/receiver.ts'
import { groupBy } from '../../domain/group-by.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../../platform/time-slice.ts'
import { secretOf } from '../authorize.ts'
import type { UpstreamClient } from '../client.ts'
import {
  type Capture,
  type CaptureHeader,
  captureFormat,
  type ExchangeLine,
  formatCapture,
  isExchange,
  maxCaptureBytes,
  type ReportLine,
} from './capture-file.ts'
import { findInJson, findInText, type PrivateValues } from './private-values.ts'
import { Redaction, textsOfName } from './redact.ts'
import type { Exchange, Interpretation } from './traffic.ts'

export type CaptureSubject = Pick<CaptureHeader, 'micwatch' | 'plugin' | 'protocol' | 'started_at' | 'known'>

export class CaptureRecorder {
  readonly #client: UpstreamClient
  readonly #subject: CaptureSubject
  readonly #startedAt = performance.now()
  readonly #records: (Exchange | Interpretation)[]
  readonly #openingLines: number
  #bytes = 0

  /** Starts with the opening of the present connection. Calls `onFull` when the capture has reached its maximum size. */
  constructor(client: UpstreamClient, subject: CaptureSubject, onFull: () => void) {
    this.#client = client
    this.#subject = subject
    this.#records = [...client.traffic.opening]
    this.#openingLines = this.#records.length
    client.traffic.onRecord = (record) => {
      this.#bytes += 'report' in record ? JSON.stringify(record.report).length : record.bytes.length
      if (this.#bytes > maxCaptureBytes) onFull()
      else this.#records.push(record)
    }
  }

  /** The size of the traffic and the reports. */
  get bytes(): number {
    return this.#bytes
  }

  /** Without the opening. */
  get lines(): number {
    return this.#records.length - this.#openingLines
  }

  /** Stops recording, and returns the file. */
  async end(end: CaptureEnd): Promise<string> {
    this.#client.traffic.onRecord = null
    return formatCapture(await this.#redact(end))
  }

  async #redact(end: CaptureEnd): Promise<Capture> {
    const endedAt = this.#secondsAt(performance.now())
    const { baseUrl } = this.#client.settings
    const lines = this.#records.map((record) => this.#toLine(record))
    const redaction = new Redaction({
      values: await this.#findPrivateValues(lines),
      words: findWords(lines),
      kept: new Set([...this.#listKept(lines), this.#subject.plugin, this.#subject.protocol]),
      random: randomInt,
    })
    const redactJson = <T>(value: T): T => JSON.parse(redaction.redact(JSON.stringify(value))) as T
    const texts = await redactTexts(lines.filter(isExchange), redaction)
    const redacted: (ExchangeLine | ReportLine)[] = []
    for (const line of lines) {
      if (isTimeSliceUsed()) await yieldToEventLoop()
      if (isExchange(line)) {
        const path = line.path === undefined ? {} : { path: redaction.redact(line.path) }
        redacted.push({ ...line, text: texts.get(line) ?? '', ...path })
      } else redacted.push(redactJson(line))
    }
    const known = redactJson(this.#subject.known)
    const reports = [...known, ...redacted.flatMap((line) => ('report' in line ? line.report : []))]
    const address = redaction.redact(baseUrl)
    return {
      header: {
        ...{ format: captureFormat, version: 1, ...this.#subject, known, address },
        models: distinct(reports.map(({ model_name }) => model_name)),
        firmware: distinct(reports.map(({ firmware_version }) => firmware_version)),
        replaced: redaction.counts,
      },
      lines: redacted,
      end: { t: endedAt, end, lines: lines.length },
    }
  }

  #toLine(record: Exchange | Interpretation): ExchangeLine | ReportLine {
    const t = this.#secondsAt(record.at)
    if ('report' in record) return { t, report: record.report }
    const { session, transport, from, bytes, http } = record
    const isText = isUtf8(bytes)
    return {
      ...{ t, session, transport, from, text: bytes.toString(isText ? 'utf8' : 'latin1') },
      ...(!isText && { latin1: true }),
      ...(http as Pick<ExchangeLine, 'method' | 'path' | 'status' | 'type'>),
    }
  }

  #secondsAt(time: number): number {
    return Math.round(time - this.#startedAt) / 1000
  }

  async #findPrivateValues(lines: readonly (ExchangeLine | ReportLine)[]): Promise<PrivateValues> {
    const { credentials, username, baseUrl, name } = this.#client.settings
    const values: PrivateValues = new Map()
    const secret = secretOf(credentials)
    if (secret) values.set(secret, 'secret')
    for (const text of [username, name, new URL(baseUrl).hostname]) {
      if (text && !/^[\d.]+$|^\[/.test(text)) values.set(text, 'name')
    }
    // Micwatch sends the address of this machine to some devices.
    for (const { address, internal } of Object.values(networkInterfaces())
      .flat()
      .filter((entry) => entry !== undefined)) {
      if (!internal && isIPv4(address)) values.set(address, 'ip')
    }
    for (const { ip } of this.#subject.known) if (ip && isIPv4(ip)) values.set(ip, 'ip')
    findInJson(this.#subject.known, values)
    const sent: string[] = []
    for (const group of groupByStream(lines.filter(isExchange))) {
      if (isTimeSliceUsed()) await yieldToEventLoop()
      // Micwatch itself sends no names.
      if (group[0]?.from !== 'device') continue
      const text = group.map((line) => line.text).join('')
      findInText(text, values)
      sent.push(text)
    }
    const reported: PrivateValues = new Map()
    for (const line of lines) if ('report' in line) findInJson(line.report, reported)
    const parts = [...values.keys()].filter((value) => value.length > 2)
    for (const [value, kind] of reported) {
      if (isTimeSliceUsed()) await yieldToEventLoop()
      if (parts.some((part) => value.includes(part))) continue
      // An adapter may compose a name, such as that of a bay from its number and the name or the model of its charger.
      const isSent = kind !== 'name' || textsOfName(value).some((form) => sent.some((text) => text.includes(form)))
      if (isSent) values.set(value, kind)
    }
    return values
  }

  /** Models and versions, which a replay needs, and by which a reader recognizes the equipment. */
  #listKept(lines: readonly (ExchangeLine | ReportLine)[]): readonly string[] {
    const reports: readonly DeviceReport[] = [
      ...this.#subject.known,
      ...lines.flatMap((line) => ('report' in line ? line.report : [])),
    ]
    return [...reports, ...reports.flatMap(({ units }) => units ?? [])].flatMap((report) =>
      distinct([report.model_name, report.device_type, report.firmware_version, report.hosted_firmware_version]),
    )
  }
}

/** In the streams of a TCP connection and of an event stream, a message may be split anywhere. */
const isStream = ({ transport, from }: ExchangeLine) =>
  transport === 'tcp' || (transport === 'sse' && from === 'device')

/** Streams are divided after messages, so that dividing them redacts as much and does not block the process. */
const groupChars = 32 * 1024
const endsMessage = /[\r\n>]$/

/** The lines of each stream, in groups, and every other line for itself. */
function groupByStream(lines: readonly ExchangeLine[]): readonly (readonly ExchangeLine[])[] {
  const sizes = new Map<string, { group: number; chars: number }>()
  const groups = groupBy(lines, (line) => {
    if (!isStream(line)) return line
    const stream = `${line.session} ${line.from}`
    const size = sizes.get(stream) ?? { group: 0, chars: 0 }
    sizes.set(stream, size)
    const key = `${stream} ${size.group}`
    size.chars += line.text.length
    if (size.chars > groupChars && endsMessage.test(line.text)) Object.assign(size, { group: size.group + 1, chars: 0 })
    return key
  })
  return [...groups.values()]
}

async function redactTexts(
  lines: readonly ExchangeLine[],
  redaction: Redaction,
): Promise<ReadonlyMap<ExchangeLine, string>> {
  const texts = new Map<ExchangeLine, string>()
  for (const group of groupByStream(lines)) {
    if (isTimeSliceUsed()) await yieldToEventLoop()
    const isBinary = group.some(({ latin1 }) => latin1 === true)
    const redacted = redaction.redactParts(
      group.map(({ text }) => text),
      isBinary,
    )
    for (const [index, line] of group.entries()) texts.set(line, redacted[index] ?? '')
  }
  return texts
}

/** Words that Micwatch sends, and keys of JSON. */
function findWords(lines: readonly (ExchangeLine | ReportLine)[]): ReadonlySet<string> {
  const words = new Set<string>()
  for (const line of lines) {
    if (!isExchange(line)) continue
    const found = line.from === 'micwatch' ? line.text.matchAll(/\w+/g) : line.text.matchAll(/(?<=")\w+(?="\s*:)/g)
    for (const [word] of found) words.add(word)
  }
  return words
}

function distinct(values: readonly (string | null | undefined)[]): string[] {
  return [...new Set(values.filter((value) => typeof value === 'string' && value !== ''))] as string[]
}

function isUtf8(bytes: Buffer): boolean {
  return bytes.equals(Buffer.from(bytes.toString('utf8'), 'utf8'))
}
