/**
 * A capture as a file: JSON Lines. The first line is the header, and the last one says how the capture ended. Exchanges
 * and reports stand between them, in order of time.
 */

import Type, { type Static, type TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { type CaptureEnd, captureEnds } from '../../domain/captures.ts'
import type { DeviceReport } from '../../domain/equipment/receiver.ts'
import { isDeeper } from '../../domain/json.ts'

export const captureFormat = 'micwatch-capture'
/** Traffic that would exceed this ends the capture. */
export const maxCaptureBytes = 16 * 1024 * 1024
/** JSON escapes can make a file larger than its traffic. */
export const maxCaptureFileBytes = 6 * maxCaptureBytes
const maxDepth = 32

const text = (maxLength: number) => Type.String({ maxLength })
const shortText = text(255)
/** A connection may have been open for years. */
const Seconds = Type.Number({ minimum: -1_000_000_000, maximum: 86_400 })
const Report = Type.Object({ id: shortText, kind: Type.Enum(['receiver', 'transmitter']) })

const Header = Type.Object(
  {
    format: Type.Enum([captureFormat]),
    version: Type.Enum([1]),
    /** The version of Micwatch that made the capture. */
    micwatch: shortText,
    started_at: shortText,
    plugin: shortText,
    protocol: shortText,
    address: shortText,
    models: Type.Array(shortText, { maxItems: 1000 }),
    firmware: Type.Array(shortText, { maxItems: 1000 }),
    /** Where the capture comes from, and what the display of the device showed: entered by hand. */
    source: Type.Optional(text(4000)),
    /** How many different values were replaced, by kind. */
    replaced: Type.Record(shortText, Type.Integer({ minimum: 0 })),
    /** The devices as the service knew them when the capture began. */
    known: Type.Array(Report, { maxItems: 10_000 }),
  },
  { additionalProperties: false },
)

const ExchangeLine = Type.Object(
  {
    /** Seconds since the beginning. Negative while the open connection was being established. */
    t: Seconds,
    session: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
    transport: Type.Enum(['http', 'websocket', 'sse', 'tcp', 'udp']),
    from: Type.Enum(['micwatch', 'device']),
    text: text(maxCaptureBytes),
    /** Each character of the text stands for one byte. Otherwise the text is UTF-8. */
    latin1: Type.Optional(Type.Boolean()),
    method: Type.Optional(Type.Enum(['GET', 'PUT', 'POST', 'PATCH', 'DELETE'])),
    path: Type.Optional(text(8192)),
    status: Type.Optional(Type.Integer({ minimum: 200, maximum: 599 })),
    type: Type.Optional(Type.Union([Type.String({ maxLength: 255, pattern: '^[\\x20-\\x7e]*$' }), Type.Null()])),
  },
  { additionalProperties: false },
)

/** Micwatch's interpretation: a report of a device, or of its levels. */
const ReportLine = Type.Object({ t: Seconds, report: Report }, { additionalProperties: false })

const EndLine = Type.Object(
  { t: Seconds, end: Type.Enum([...captureEnds]), lines: Type.Integer({ minimum: 0 }) },
  { additionalProperties: false },
)

export interface CaptureEndLine extends Static<typeof EndLine> {
  readonly end: CaptureEnd
}
export type CaptureHeader = Omit<Static<typeof Header>, 'known'> & { readonly known: readonly DeviceReport[] }
export type ExchangeLine = Static<typeof ExchangeLine>
export interface ReportLine {
  readonly t: number
  readonly report: DeviceReport
}

export interface Capture {
  readonly header: CaptureHeader
  readonly lines: readonly (ExchangeLine | ReportLine)[]
  /** Null if the file was cut off. */
  readonly end: CaptureEndLine | null
}

export function isExchange(line: ExchangeLine | ReportLine): line is ExchangeLine {
  return 'session' in line
}

export function formatCapture({ header, lines, end }: Capture): string {
  return [header, ...lines, ...(end === null ? [] : [end])].map((line) => `${JSON.stringify(line)}\n`).join('')
}

/** The message names the line, the field and the expected value. */
export class CaptureError extends Error {
  override readonly name = 'CaptureError'
}

/** Throws a CaptureError. A file that was cut off is read up to its last complete line. */
export function parseCapture(file: string): Capture {
  if (file.length > maxCaptureFileBytes) {
    throw new CaptureError(`expected at most ${maxCaptureFileBytes} bytes`)
  }
  let header: CaptureHeader | null = null
  let end: Capture['end'] = null
  let before = Number.NEGATIVE_INFINITY
  let number = 0
  const lines: (ExchangeLine | ReportLine)[] = []
  for (const row of completeRows(file)) {
    number += 1
    const line = parseLine(row, number)
    if (header === null) {
      header = check<CaptureHeader>(Header, line, number)
      continue
    }
    if (end !== null) throw new CaptureError(`line ${number}: expected nothing after the line with "end"`)
    const checked = checkLine(line, number)
    if (checked.t < before) throw new CaptureError(`line ${number}: t: expected at least ${before}, the line before it`)
    before = checked.t
    if ('end' in checked) end = checked
    else lines.push(checked)
  }
  if (header === null) throw new CaptureError('line 1: expected the header of a capture; the file has no complete line')
  if (end !== null && end.lines !== lines.length) {
    throw new CaptureError(
      `line ${number}: lines: ${end.lines} were recorded, but the file has ${lines.length}; lines were removed or added`,
    )
  }
  return { header, lines, end }
}

/** One at a time, because a file may have millions of lines of which the second is wrong. */
function* completeRows(file: string): Generator<string> {
  let start = 0
  for (let end = file.indexOf('\n'); end !== -1; end = file.indexOf('\n', start)) {
    yield file.slice(start, end)
    start = end + 1
  }
}

function checkLine(line: unknown, number: number): ExchangeLine | ReportLine | CaptureEndLine {
  const has = (key: string) => typeof line === 'object' && line !== null && key in line
  if (has('end')) return check<CaptureEndLine>(EndLine, line, number)
  return has('report') ? check<ReportLine>(ReportLine, line, number) : check<ExchangeLine>(ExchangeLine, line, number)
}

function parseLine(row: string, number: number): unknown {
  try {
    const line: unknown = JSON.parse(row)
    if (!isDeeper(line, maxDepth)) return line
  } catch {
    throw new CaptureError(`line ${number}: not JSON`)
  }
  throw new CaptureError(`line ${number}: nested deeper than ${maxDepth} levels`)
}

function check<T>(schema: TSchema, value: unknown, number: number): T {
  if (Value.Check(schema, value)) return value as T
  const [error] = Value.Errors(schema, value)
  const path = error?.instancePath.slice(1).replaceAll('/', '.')
  const problem = error?.message === 'schema is false' ? 'unknown field' : error?.message
  throw new CaptureError(`line ${number}: ${path ? `${path}: ` : ''}${problem}`)
}
