/** Values that change during a walk test come first. */

import type { ChannelCheckBody } from '../../src/contract/checks.ts'
import { formatClock, formatDbm, formatMegahertz, formatPercent, formatTimeLeft, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'

/** Findings depend on levels and on the time of day, so no message announces changes. */
export const readFindingsMs = 5_000

export type FindingName = 'transmitter' | 'battery' | 'frequency' | 'encryption' | 'audio' | 'walk'

export interface Finding {
  readonly name: FindingName
  readonly judgement: 'good' | 'bad' | 'unknown'
  readonly seen: string
  /** Null if nothing is expected, for example because the show has no planned end. */
  readonly expected: string | null
}

type Seen = Pick<ChannelCheckBody, 'began_at' | 'sees'>

/** `endsAt`: the planned end of the show, ISO 8601. */
export function listFindings({ began_at, sees }: Seen, endsAt: string | null): readonly Finding[] {
  const { transmitter_on, lasts, audio_heard, encryption, frequency_planned } = sees
  return [
    {
      name: 'transmitter',
      judgement: judge(transmitter_on),
      seen: transmitter_on === null ? unknown() : transmitter_on ? t('check.on') : t('check.off'),
      expected: t('check.on'),
    },
    {
      name: 'audio',
      judgement: judge(audio_heard),
      seen: audio_heard === null ? unknown() : audio_heard ? t('check.received') : t('check.silent'),
      expected: t('check.received'),
    },
    {
      name: 'walk',
      judgement: began_at === null ? 'unknown' : judgeWalk(sees),
      seen: began_at === null ? t('check.notBegun') : walkText(sees),
      expected: t('check.dropouts', { count: 0 }),
    },
    {
      name: 'battery',
      judgement: judge(lasts),
      seen: batteryText(sees),
      expected: endsAt === null ? null : t('check.until', { time: formatClock(Date.parse(endsAt)) }),
    },
    {
      name: 'frequency',
      judgement: judge(isAsPlanned(sees)),
      seen: frequencyText(sees),
      expected: frequency_planned && formatMegahertz(frequency_planned),
    },
    ...(encryption === null
      ? []
      : [
          {
            name: 'encryption',
            // The show may not need encryption.
            judgement: judge(encryption === 'off' ? null : encryption === 'on'),
            seen: t(`check.encryptions.${encryption}`),
            expected: null,
          } as const,
        ]),
  ]
}

export function listProblems(check: Seen, endsAt: string | null): readonly FindingName[] {
  return listFindings(check, endsAt).flatMap(({ name, judgement }) => (judgement === 'bad' ? [name] : []))
}

function judge(value: boolean | null): Finding['judgement'] {
  if (value === null) return 'unknown'
  return value ? 'good' : 'bad'
}

function unknown(): string {
  return t('check.unknown')
}

function isAsPlanned({ frequency, frequency_planned }: Seen['sees']): boolean | null {
  return frequency === null || frequency_planned === null ? null : frequency === frequency_planned
}

/** Names the plan in force if the frequency differs from it. */
function frequencyText(sees: Seen['sees']): string {
  const { frequency, frequency_plan: plan } = sees
  if (frequency === null) return unknown()
  const text = formatMegahertz(frequency)
  if (plan === null || isAsPlanned(sees) !== false) return text
  return `${text} · ${t('check.offPlan', { plan: plainText(plan.title) })}`
}

function batteryText({ battery, minutes_left }: Seen['sees']): string {
  const parts = [
    minutes_left === null ? null : t('check.timeLeft', { time: formatTimeLeft(minutes_left) }),
    battery === null ? null : formatPercent(battery),
  ].filter((part) => part !== null)
  return parts.length === 0 ? unknown() : parts.join(' · ')
}

/** A walk without dropouts is good only if its levels were recorded. */
function judgeWalk({ dropouts, rf_lowest }: Seen['sees']): Finding['judgement'] {
  if (dropouts === null) return 'unknown'
  if (dropouts > 0) return 'bad'
  return rf_lowest === null ? 'unknown' : 'good'
}

function walkText({ dropouts, rf_lowest }: Seen['sees']): string {
  const parts = [
    rf_lowest === null ? null : t('check.lowest', { level: formatDbm(rf_lowest) }),
    dropouts === null ? null : t('check.dropouts', { count: dropouts }),
  ].filter((part) => part !== null)
  return parts.length === 0 ? unknown() : parts.join(' · ')
}
