import { Link } from '@tanstack/react-router'
import {
  Check,
  Circle,
  CircleHelp,
  CircleX,
  Footprints,
  ListChecks,
  type LucideIcon,
  Printer,
  TriangleAlert,
} from 'lucide-react'
import type { ChannelCheckBody } from '../../src/contract/checks.ts'
import type { ShowBody } from '../../src/contract/shows.ts'
import { pathOf } from '../../src/domain/pages.ts'
import { useFacts } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { SoundMark } from '../parts/card/listen-button.tsx'
import { Notice } from '../parts/dialogs/notice.tsx'
import { StateIcon } from '../parts/state-icon.tsx'
import { KeepAwake } from '../parts/toolbar/wake-lock.tsx'
import { useRegion } from '../parts/use-region.ts'
import type { CheckAddress } from './address.ts'
import { type Finding, listProblems } from './findings.ts'
import { type CheckStatus, countProgress, inOrder, isWalking, statusOf } from './progress.ts'

export interface ListedCheck extends ChannelCheckBody {
  readonly receiverId: number
}

interface ChannelListProps {
  readonly show: ShowBody
  readonly checks: readonly ListedCheck[]
  readonly address: CheckAddress
  change(address: Partial<CheckAddress>): void
}

export function ChannelList({ show, checks, address, change }: ChannelListProps) {
  const isOpenFirst = address.order === 'open'
  const region = useRegion<HTMLUListElement>()
  return (
    <>
      <header className="check-head">
        <p className="check-kind">{t('pages.check')}</p>
        <h1>
          <bdi>{plainText(show.title)}</bdi>
        </h1>
        <ProgressBar checks={checks} />
        <div className="check-tools">
          <button
            type="button"
            className="choice"
            aria-pressed={isOpenFirst}
            onClick={() => change({ order: isOpenFirst ? 'slot' : 'open' })}
          >
            {t('check.openFirst')}
          </button>
          <KeepAwake />
          <Link className="choice" to="/check-reports/$id" params={{ id: String(show.id) }}>
            <Printer className="icon" aria-hidden="true" />
            {t('check.report')}
          </Link>
        </div>
      </header>
      {checks.length === 0 ? (
        <Notice title={t('check.noChannelsTitle')} icon={ListChecks}>
          <p>{show.group_ids.length === 0 ? t('check.noChannels') : t('check.noChannelsInGroups')}</p>
        </Notice>
      ) : (
        <ul className="check-list" ref={region} aria-label={t('check.channels')}>
          {inOrder(checks, address.order).map((check) => (
            <Row key={check.channel_id} check={check} show={show} />
          ))}
        </ul>
      )}
    </>
  )
}

function ProgressBar({ checks }: Pick<ChannelListProps, 'checks'>) {
  const { total, checked, failed } = countProgress(checks)
  if (total === 0) return null
  const text = t('check.progress', { checked, total })
  return (
    <>
      <p className="check-progress">
        <strong>{text}</strong>
        {failed === 0 ? null : (
          <span className="check-failed">
            <CheckIcon sign="failed" />
            {t('check.failedCount', { count: failed })}
          </span>
        )}
      </p>
      <div className="check-bar" aria-hidden="true">
        <span data-sign="passed" style={{ flexGrow: checked - failed }} />
        <span data-sign="failed" style={{ flexGrow: failed }} />
        <span style={{ flexGrow: total - checked }} />
      </div>
    </>
  )
}

function Row({ check, show }: { check: ListedCheck; show: ShowBody }) {
  const { channel_id, receiverId } = check
  const facts = useFacts(receiverId, channel_id)
  if (facts === null) return null
  const status = statusOf(check)
  const isInProgress = isWalking(check)
  const problems = listProblems(check, show.ends_at)
  return (
    <li>
      <Link
        className="check-row"
        data-sign={status}
        to={pathOf('check')}
        search={(before) => ({ ...before, channel: channel_id })}
      >
        <CheckIcon sign={isInProgress ? 'walking' : status} />
        <span className="check-slot">{facts.slot}</span>
        <span className="check-name">
          <bdi>{facts.title}</bdi> <SoundMark facts={facts} />
          {status === 'failed' && check.last?.note != null ? <bdi className="check-note">{check.last.note}</bdi> : null}
        </span>
        <span className="visually-hidden">{isInProgress ? t('check.walking') : t(`check.statuses.${status}`)}</span>
        {facts.needsAttention || facts.state === 'stale' ? (
          <small className="check-state" data-severity={facts.condition.severity}>
            <StateIcon state={facts.state} />
            {t(`states.${facts.state}`)}
          </small>
        ) : problems.length === 0 ? null : (
          <small className="check-state">{problems.map((name) => t(`check.problems.${name}`)).join(' · ')}</small>
        )}
      </Link>
    </li>
  )
}

const icons: Readonly<Record<CheckStatus | 'walking' | Finding['judgement'], LucideIcon>> = {
  passed: Check,
  failed: CircleX,
  open: Circle,
  walking: Footprints,
  good: Check,
  bad: TriangleAlert,
  unknown: CircleHelp,
}

export function CheckIcon({ sign }: { sign: keyof typeof icons }) {
  const Icon = icons[sign]
  return <Icon className="icon" data-sign={sign} aria-hidden="true" />
}
