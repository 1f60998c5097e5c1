/** A real SMTP server that records what it receives. Its recipients decide how it behaves. */

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { onTestEnd } from '../cleanup.ts'

export interface Mail {
  readonly from: string
  readonly to: readonly string[]
  /** Names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly text: string
  readonly user: string | null
  readonly isEncrypted: boolean
}

export interface MailServer {
  readonly port: number
  readonly mails: Mail[]
}

export const account = { username: 'mics', password: 'smtpSecretPassword' }

/** How the server responds to recipients with these names. */
const refusals: Readonly<Record<string, readonly [code: number, text: string]>> = {
  unknown: [550, '5.1.1 No such user'],
  full: [452, '4.2.2 Mailbox full'],
  busy: [421, '4.3.2 Shutting down'],
}

/** Starts a server on a free port. `greylisted@` is refused at the first try, `silent@` receives no response. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const mails: Mail[] = []
  const knownRecipients = new Set<string>()
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    onAuth({ username, password }, _session, callback) {
      if (username === account.username && password === account.password) callback(null, { user: username })
      else callback(smtpError(535, `5.7.8 Wrong password ${password}`))
    },
    onRcptTo({ address }, _session, callback) {
      const [name = ''] = address.split('@')
      if (name === 'silent') return
      const [code, text] = refusals[name] ?? []
      if (code !== undefined && text !== undefined) return callback(smtpError(code, text))
      const isKnown = knownRecipients.has(address)
      knownRecipients.add(address)
      callback(name === 'greylisted' && !isKnown ? smtpError(451, '4.7.1 Greylisted, try again later') : null)
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          ...parseMail(Buffer.concat(chunks)),
          user: typeof session.user === 'string' ? session.user : null,
          isEncrypted: session.secure,
        })
        callback(null)
      })
    },
    ...options,
  })
  // Clients may close connections at any time.
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  onTestEnd(() => new Promise<void>((resolve) => server.close(() => resolve())))
  return { port: (server.server.address() as AddressInfo).port, mails }
}

function smtpError(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode })
}

/** Parses a message of one part, as RFC 5322, 2045 and 2047 describe it. Throws if it has another form. */
function parseMail(bytes: Buffer): Pick<Mail, 'headers' | 'text'> {
  const raw = bytes.toString('latin1')
  if (/[^\r]\n|\r[^\n]/.test(raw)) throw new Error('A line does not end with CR LF.')
  if (/[^\t\r\n -~]/.test(raw)) throw new Error('A character is not printable ASCII.')
  if (raw.split('\r\n').some((line) => line.length > 998)) throw new Error('A line is too long.')
  const end = raw.indexOf('\r\n\r\n')
  const fields = raw
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
  const headers = fields.map((field): [string, string] => {
    const [, name = '', value = ''] = /^([!-9;-~]+): (.*)$/.exec(field) ?? []
    if (name === '') throw new Error(`Not a header: ${field}`)
    return [name.toLowerCase(), decodeWords(value)]
  })
  const encoding = headers.find(([name]) => name === 'content-transfer-encoding')?.[1]
  return {
    headers,
    text: decodeBody(raw.slice(end + 4), encoding)
      .replace(/\r\n$/, '')
      .replaceAll('\r\n', '\n'),
  }
}

function decodeWords(value: string): string {
  return value.replace(/\?=\s+=\?/g, '?==?').replace(/(?:=\?utf-8\?[qb]\?[^?]*\?=)+/gi, (words) => {
    const parts = [...words.matchAll(/=\?utf-8\?([qb])\?([^?]*)\?=/gi)].map(([, encoding = '', text = '']) =>
      encoding.toLowerCase() === 'b' ? Buffer.from(text, 'base64') : decodeQuoted(text.replaceAll('_', ' ')),
    )
    return Buffer.concat(parts).toString('utf8')
  })
}

function decodeBody(text: string, encoding: string | undefined): string {
  if (encoding === 'quoted-printable') return decodeQuoted(text.replace(/=\r\n/g, '')).toString('utf8')
  if (encoding === 'base64') return Buffer.from(text, 'base64').toString('utf8')
  return text
}

function decodeQuoted(text: string): Buffer {
  return Buffer.from(
    text.replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )
}
