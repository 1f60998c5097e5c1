import { Link } from '@tanstack/react-router'
import { ChevronLeft, ChevronRight } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { ChannelCheckBody } from '../../src/contract/checks.ts'
import type { ShowBody } from '../../src/contract/shows.ts'
import type { CheckResult } from '../../src/contract/values.ts'
import { pathOf } from '../../src/domain/pages.ts'
import type { ChannelFacts } from '../app/channel-state.ts'
import { useFacts, useServices } from '../app/context.ts'
import { formatMoment } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useRequest, useResource } from '../app/resource.ts'
import { useMay } from '../app/session.ts'
import { Ago } from '../parts/age.tsx'
import { personName } from '../parts/alerts/alert-text.ts'
import { SoundMark } from '../parts/card/listen-button.tsx'
import { ProblemLine } from '../parts/dialogs/notice.tsx'
import { MeterLayer, Meters } from '../parts/meters/meters.tsx'
import { StateIcon } from '../parts/state-icon.tsx'
import type { ListedCheck } from './channel-list.tsx'
import { CheckIcon } from './channel-list.tsx'
import { listFindings, readFindingsMs } from './findings.ts'
import { findNext, isWalking } from './progress.ts'

interface ChannelCheckProps {
  readonly show: ShowBody
  readonly checks: readonly ListedCheck[]
  readonly check: ListedCheck
  reload(): Promise<void>
}

export function ChannelCheck({ show, checks, check, reload }: ChannelCheckProps) {
  const { channel_id: channelId, receiverId } = check
  const facts = useFacts(receiverId, channelId)
  const current = useCurrentCheck(show, check, facts)
  if (facts === null) return null
  return (
    <article className="check-channel">
      <header className="check-channel-head">
        <Link
          className="choice"
          to={pathOf('check')}
          search={(before) => ({ ...before, channel: undefined })}
          aria-label={t('check.allChannels')}
        >
          <ChevronLeft className="icon" aria-hidden="true" />
        </Link>
        <h1>
          <span className="check-slot">{facts.slot}</span> <bdi>{facts.title}</bdi> <SoundMark facts={facts} />
        </h1>
        <span className="check-position">
          {t('check.position', { at: checks.indexOf(check) + 1, total: checks.length })}
        </span>
      </header>
      <p className="check-state" data-severity={facts.needsAttention ? facts.condition.severity : undefined}>
        <StateIcon state={facts.state} />
        {t(`states.${facts.state}`)}
        {facts.ownName === null ? null : <bdi className="check-pack">{facts.ownName}</bdi>}
      </p>
      {facts.hasLevels ? (
        <div className="meter-field check-meters">
          <Meters {...{ receiverId, channelId }} hasAntennas={facts.hasAntennas} since={facts.since} />
          <MeterLayer order={String(channelId)} />
        </div>
      ) : null}
      <Findings check={current.check} endsAt={show.ends_at} isOld={facts.state === 'stale' || current.isOld} />
      <Actions
        show={show}
        check={current.check}
        next={findNext(checks, channelId)}
        onChanged={() => Promise.all([reload(), current.reload()])}
      />
    </article>
  )
}

/** Read again when the state of the channel changes. */
function useCurrentCheck(show: ShowBody, listed: ListedCheck, facts: ChannelFacts | null) {
  const address = `/api/shows/${show.id}/checks/?channel=${listed.channel_id}` as const
  const { body, problem, isChanging, reload } = useResource(address, 'list', ['check'], readFindingsMs)
  useEffect(() => {
    if (facts !== null) void reload()
  }, [facts, reload])
  const read = isChanging ? undefined : body?.[0]
  return { check: read ?? listed, isOld: problem !== null, reload }
}

interface FindingsProps {
  readonly check: ChannelCheckBody
  readonly endsAt: string | null
  /** Nothing can be said about values that are not current. */
  readonly isOld: boolean
}

function Findings({ check, endsAt, isOld }: FindingsProps) {
  return (
    <table className="check-findings" data-old={isOld || undefined}>
      <caption className="visually-hidden">{t('check.findings')}</caption>
      <thead>
        <tr>
          <th scope="col">
            <span className="visually-hidden">{t('check.what')}</span>
          </th>
          <th scope="col">{t('check.seen')}</th>
          <th scope="col">{t('check.expected')}</th>
        </tr>
      </thead>
      <tbody>
        {listFindings(check, endsAt).map(({ name, judgement, seen, expected }) => (
          <tr key={name} data-judgement={isOld ? 'unknown' : judgement}>
            <th scope="row">
              <CheckIcon sign={isOld ? 'unknown' : judgement} />
              {t(`check.names.${name}`)}
            </th>
            <td>
              {seen}
              <span className="visually-hidden"> {t(`check.judgements.${isOld ? 'unknown' : judgement}`)}</span>
            </td>
            <td>{expected ?? t('check.unknown')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const signs = { pass: 'passed', fail: 'failed' } as const

interface ActionsProps {
  readonly show: ShowBody
  readonly check: ChannelCheckBody
  readonly next: ListedCheck | null
  onChanged(): Promise<unknown>
}

function Actions({ show, check, next, onChanged }: ActionsProps) {
  const { api } = useServices()
  const mayOperate = useMay('operate')
  const [note, setNote] = useState('')
  const { send, isSending, problem } = useRequest()
  const { channel_id } = check
  const begin = async () => {
    const response = await send(() => api.write('POST', `/api/shows/${show.id}/checks/begin`, { channel_id }, 'object'))
    if (response?.ok) await onChanged()
  }
  const enter = async (result: CheckResult) => {
    const response = await send(() =>
      api.write('POST', `/api/shows/${show.id}/checks/`, { channel_id, result, note: note.trim() || null }, 'object'),
    )
    if (!response?.ok) return
    setNote('')
    await onChanged()
  }
  return (
    <section className="check-actions" aria-label={t('check.result')}>
      {problem === null ? null : <ProblemLine problem={problem} />}
      <Last check={check} />
      {show.state === 'ended' ? (
        <p>{t('check.ended')}</p>
      ) : mayOperate ? (
        <>
          <div className="check-walk">
            <button type="button" className="choice" disabled={isSending} onClick={begin}>
              {isWalking(check) ? t('check.beginAgain') : t('check.begin')}
            </button>
            <input
              className="input"
              aria-label={t('check.note')}
              placeholder={t('check.note')}
              maxLength={500}
              enterKeyHint="done"
              value={note}
              onChange={(event) => setNote(event.target.value)}
              onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
            />
          </div>
          <div className="check-buttons">
            {(['fail', 'pass'] as const).map((result) => (
              <button
                key={result}
                type="button"
                className="choice"
                data-sign={signs[result]}
                disabled={isSending}
                onClick={() => enter(result)}
              >
                <CheckIcon sign={signs[result]} />
                {t(`check.${result}`)}
              </button>
            ))}
          </div>
        </>
      ) : (
        <p>{t('check.mayNot')}</p>
      )}
      <Next next={next} isChecked={check.last !== null} />
    </section>
  )
}

function Last({ check }: { check: ChannelCheckBody }) {
  const { began_at, last } = check
  return (
    <p className="check-last" role="status">
      {isWalking(check) && began_at !== null ? (
        <span>
          <CheckIcon sign="walking" />
          {t('check.walkStarted')} <Ago at={began_at} />
        </span>
      ) : null}
      {last === null ? (
        isWalking(check) ? null : (
          <span>{t('check.statuses.open')}</span>
        )
      ) : (
        <span data-sign={signs[last.result]}>
          <CheckIcon sign={signs[last.result]} />
          {t(last.result === 'pass' ? 'check.passedBy' : 'check.failedBy', {
            time: formatMoment(last.time),
            name: personName(last.by),
          })}
          {last.note === null ? null : <bdi className="check-note">{last.note}</bdi>}
        </span>
      )}
    </p>
  )
}

function Next({ next, isChecked }: { next: ListedCheck | null; isChecked: boolean }) {
  const facts = useFacts(next?.receiverId ?? 0, next?.channel_id ?? 0)
  if (next === null || facts === null) {
    return (
      <Link className="choice" to={pathOf('check')} search={(before) => ({ ...before, channel: undefined })}>
        {t('check.noNext')}
      </Link>
    )
  }
  return (
    <Link
      className="choice"
      data-tone={isChecked ? 'usual' : undefined}
      to={pathOf('check')}
      search={(before) => ({ ...before, channel: next.channel_id })}
      replace={true}
    >
      {t('check.next')} {facts.slot} <bdi className="check-next-name">{facts.title}</bdi>
      <ChevronRight className="icon" aria-hidden="true" />
    </Link>
  )
}
