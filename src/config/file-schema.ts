/** The schema of the configuration file. */

import Type from 'typebox'
import { roles } from '../domain/access/oidc.ts'
import { AudioSection } from './audio.ts'
import { BackupSection } from './backup.ts'
import { flag, fullAddress, headers, integer, networks, path, section, text, textList, webAddress } from './fields.ts'
import { HeartbeatSection } from './heartbeat.ts'
import { MqttSection, OscSection } from './integrations.ts'
import { OidcSection } from './oidc.ts'

/** Kinds of writes to equipment. */
const controls = ['names', 'frequencies', 'scan'] as const
const controlRoles = ['admin', 'operator'] as const

const Limit = Type.Object(
  { max_requests: integer(1, 1_000_000), window_seconds: integer(1, 86_400) },
  { additionalProperties: false, description: '{max_requests, window_seconds}' },
)

const Manufacturer = Type.Object(
  {
    code: Type.String({ pattern: '^[a-z][a-z0-9_-]{0,63}$', description: 'lower-case letters, digits, _ and -' }),
    name: Type.Optional(text('text')),
    plugin: Type.Optional(text('the code of a plugin')),
    api_enabled: Type.Optional(flag),
    config: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'a section of keys' })),
  },
  { additionalProperties: false, description: 'a manufacturer with at least a code' },
)

const interfaceNames = Type.Array(
  Type.String({ pattern: '^(?![\\s.])[^/*\\p{Cc}]{1,64}\\*?$', description: 'a name such as eth0 or en*' }),
  {
    description: 'a list of names of network interfaces, such as eth0 or en*',
  },
)

export const File = section({
  server: section({
    name: Type.Union([Type.Null(), Type.String({ pattern: '^[^\\p{Cc}]{1,64}$' })], {
      description: 'a name of up to 64 characters, on one line',
    }),
    // Digits and dots alone are not a host name.
    host: Type.Union([Type.String({ format: 'ipv4' }), Type.String({ pattern: '^(?=.*[^\\d.])[^\\s/@?#]+$' })], {
      description: 'a host name or address',
    }),
    port: integer(0, 65_535),
    redirect_port: Type.Union([Type.Null(), integer(1, 65_535)], { description: 'a whole number from 1 to 65535' }),
    mount: Type.String({ pattern: '^(/[A-Za-z0-9._~-]+)*/?$', description: 'a path such as /micwatch, or empty' }),
    allowed_hosts: textList('host names'),
    trusted_proxies: networks(),
    public_url: Type.Union([Type.Null(), webAddress], { description: 'an address such as https://mics.example' }),
    frame_ancestors: Type.Array(
      Type.String({ pattern: "^('self'|https?://(\\*\\.)?[\\w.-]+(:(\\d+|\\*))?|https?://\\[[\\da-f:]+\\](:\\d+)?)$" }),
      {
        description: "a list of origins such as https://wall.example, or 'self'",
      },
    ),
    strict_transport: flag,
    /** A stopping service continues to respond for this long. */
    drain_seconds: integer(0, 60),
  }),
  log: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
    description: 'trace, debug, info, warn, error, fatal or silent',
  }),
  log_format: Type.Enum(['json', 'text'], { description: 'json or text' }),
  data_dir: path('a folder'),
  database_url: Type.Union([Type.Null(), Type.String({ pattern: '^(sqlite:.|postgres(ql)?://.)' })], {
    description: 'sqlite:<file> or postgres://…',
  }),
  redis_url: Type.Union([Type.Null(), Type.String({ pattern: '^rediss?://.' })], { description: 'redis://…' }),
  secret_key: Type.Union([Type.Null(), Type.String({ pattern: '^[0-9a-fA-F]{64}$' })], {
    description: '64 hexadecimal digits',
  }),
  require_login: flag,
  require_totp: Type.Array(Type.Enum([...roles]), { description: `a list of roles: ${roles.join(', ')}` }),
  public_read: flag,
  tls: Type.Union(
    [
      Type.Literal('off'),
      Type.Literal(false),
      Type.Literal('auto'),
      Type.Object({ cert: Type.String(), key: Type.String() }, { additionalProperties: false }),
    ],
    { description: 'off, auto, or {cert: file, key: file}' },
  ),
  provisioning: path('a file'),
  planning_center_url: webAddress,
  discovery_ranges: networks('^\\d{1,3}(\\.\\d{1,3}){3}/\\d{1,2}$'),
  discovery_interfaces: section({ include: interfaceNames, exclude: interfaceNames }),
  rate_limit: section({
    max_requests: integer(1, 1_000_000),
    window_seconds: integer(1, 86_400),
    overrides: Type.Record(Type.String(), Limit, { description: 'a section of endpoints' }),
  }),
  settings: section({
    DEFAULT_POLLING_INTERVAL: integer(1, 3600),
    WEBSOCKET_BROADCASTING: flag,
    CACHE_TIMEOUT: integer(0, 86_400),
  }),
  control: Type.Array(Type.Enum([...controls]), { description: `a list of ${controls.join(', ')}` }),
  control_role: Type.Enum([...controlRoles], { description: controlRoles.join(' or ') }),
  control_during_shows: flag,
  control_unconfirmed: flag,
  history_remote_write: Type.Union(
    [
      Type.Null(),
      Type.Object(
        {
          url: fullAddress('https://metrics.example/api/v1/write'),
          headers: Type.Optional(headers),
          interval_seconds: Type.Optional(integer(1, 300)),
        },
        { additionalProperties: false },
      ),
    ],
    { description: '{url, headers, interval_seconds}, with an http or https address and 1 to 300 seconds' },
  ),
  backup: BackupSection,
  heartbeat: HeartbeatSection,
  update_notice: section({ url: fullAddress('https://micwatch.example/latest.json') }),
  osc: OscSection,
  mqtt: MqttSection,
  oidc: OidcSection,
  audio: AudioSection,
  /** Those with the permission `listen` can listen to channels. */
  listening: flag,
  /** Sound is kept for a time as evidence of faults. */
  audio_evidence: flag,
  listening_without_tls: flag,
  manufacturers: Type.Array(Manufacturer, { description: 'a list of manufacturers' }),
})

export type File = Type.Static<typeof File>
export type ManufacturerEntry = Type.Static<typeof Manufacturer>
