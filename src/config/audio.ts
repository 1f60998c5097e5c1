/** The section `audio` of the configuration: where streams are received, and programs that deliver sound. */

import Type from 'typebox'
import { sampleFormats, streamRates } from '../domain/audio/audio-stream.ts'
import { integer, section, text, textList } from './fields.ts'

const formats = [...sampleFormats]
const rates = [...streamRates]

const Command = Type.Object(
  {
    name: Type.String({ pattern: '^[^\\p{Cc}]{1,64}$', description: 'a name of up to 64 characters, on one line' }),
    argv: Type.Array(text('text'), { minItems: 1, description: 'a list with the program and its arguments' }),
    format: Type.Enum(formats, { description: formats.join(', ') }),
    rate: Type.Enum(rates, { description: rates.join(', ') }),
    channels: integer(1, 64),
  },
  { additionalProperties: false, description: '{name, argv, format, rate, channels}' },
)

const listOfAddresses = (pattern: string, description: string) =>
  Type.Array(Type.String({ pattern, maxLength: 500, description }), { maxItems: 64, description })

export const AudioSection = section({
  interfaces: textList('names or addresses of network interfaces'),
  rtsp: listOfAddresses('^rtsp://', 'a list of addresses such as rtsp://10.0.0.5/by-name/Stage'),
  nmos: listOfAddresses('^https?://', 'a list of addresses such as http://registry.example:8010'),
  commands: Type.Array(Command, {
    maxItems: 64,
    description: 'a list of programs with name, argv, format, rate and channels',
  }),
})

/** A program that writes interleaved samples to its standard output. It is started without a shell. */
export type AudioCommand = Readonly<Type.Static<typeof Command>>

export interface AudioConfig {
  /** Names or addresses; if empty, the interfaces on which devices are sought. */
  readonly interfaces: readonly string[]
  /** Addresses of RAVENNA streams that are not announced. */
  readonly rtsp: readonly string[]
  /** Addresses of registries or nodes that are not announced. */
  readonly nmos: readonly string[]
  readonly commands: readonly AudioCommand[]
}

export function toAudio(entry: Type.Static<typeof AudioSection> | undefined): AudioConfig | null {
  return entry === undefined ? null : { interfaces: [], rtsp: [], nmos: [], commands: [], ...entry }
}
