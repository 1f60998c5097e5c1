import '../parts/tables/records.css'
import { useState } from 'react'
import type { FrequencyPlanBody } from '../../src/contract/frequency-plans.ts'
import type { ApiResponse } from '../app/api.ts'
import { useServices } from '../app/context.ts'
import { formatMoment, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useSearch } from '../app/query.ts'
import { useRequest, useResource } from '../app/resource.ts'
import { useMay } from '../app/session.ts'
import { useShowMessage, useShowUndoable } from '../parts/dialogs/messages.tsx'
import { Empty } from '../parts/empty.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { type ShownCarrier, type Tried, triedOf } from './carriers.ts'
import { ExportMenu } from './export-menu.tsx'
import { ImportCoordination } from './import-coordination.tsx'
import { PlanComparison } from './plan-comparison.tsx'
import { type PlanAction, PlanDialog } from './plan-dialogs.tsx'
import { toTab } from './tabs.tsx'

interface PlansProps {
  readonly carriers: readonly ShownCarrier[]
  onTry(frequencies: Tried): void
}

type Question = { readonly kind: PlanAction; readonly plan: FrequencyPlanBody }

export function Plans({ carriers, onTry }: PlansProps) {
  const resource = useResource('/api/frequency-plans/', 'list', ['frequency_plans'])
  const [question, setQuestion] = useState<Question | null>(null)
  const { body: shows } = useResource('/api/shows/', 'list', ['show'])
  const [search, change] = useSearch()
  const openId = new URLSearchParams(search).get('plan')
  const tryPlan = (plan: FrequencyPlanBody) => {
    onTry(triedOf(plan.carriers, carriers))
    change(toTab('carriers'))
  }
  return (
    <section className="frequencies-section" aria-label={t('frequencies.tabs.plans')}>
      <header className="conflicts-head">
        <h2>{t('frequencies.tabs.plans')}</h2>
        <span className="screen-only">
          <ImportCoordination onDone={resource.reload} />
        </span>
      </header>
      <Loaded resource={resource}>
        {(plans) =>
          plans.length === 0 ? (
            <Empty title={t('frequencies.plans.none')}>
              <p>{t('frequencies.plans.noneNext')}</p>
              <button type="button" className="action" onClick={() => change(toTab('carriers'))}>
                {t('frequencies.plans.toCarriers')}
              </button>
            </Empty>
          ) : (
            <ul className="plan-list">
              {plans.map((plan) => (
                <PlanItem
                  key={plan.id}
                  plan={plan}
                  show={shows?.find(({ id }) => id === plan.show_id)?.title ?? null}
                  isOpen={String(plan.id) === openId}
                  others={plans.filter(({ id }) => id !== plan.id)}
                  onAsk={(kind) => setQuestion({ kind, plan })}
                  onTry={() => tryPlan(plan)}
                  onDone={resource.reload}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      {question === null ? null : (
        <PlanDialog {...question} onDone={resource.reload} onClose={() => setQuestion(null)} />
      )}
    </section>
  )
}

interface PlanItemProps {
  readonly plan: FrequencyPlanBody
  /** The title of the show that it is for. */
  readonly show: string | null
  readonly isOpen: boolean
  readonly others: readonly FrequencyPlanBody[]
  onAsk(kind: PlanAction): void
  onTry(): void
  onDone(): Promise<void>
}

function PlanItem({ plan, show, isOpen, others, onAsk, onTry, onDone }: PlanItemProps) {
  const [, change] = useSearch()
  const title = plainText(plan.title)
  const facts = [
    ...(show === null ? [] : [t('frequencies.plans.forShow', { title: plainText(show) })]),
    t('frequencies.plans.carriers', { count: plan.carriers.length }),
    t('frequencies.conflicts.titleWithCount', { count: plan.conflict_count }),
    t('frequencies.plans.storedAt', { time: formatMoment(plan.created_at), by: plainText(plan.created_by) }),
  ]
  const { mount } = useServices()
  return (
    <li className="plan">
      <div className="plan-head">
        <h3>
          <bdi>{title}</bdi>
        </h3>
        {plan.active ? (
          <span className="tag" data-tone="good">
            {t('frequencies.plans.active')}
          </span>
        ) : null}
        <span className="box-note">{facts.join(' · ')}</span>
      </div>
      <span className="row-actions screen-only">
        <button
          type="button"
          className="choice"
          aria-expanded={isOpen}
          onClick={() => change({ plan: isOpen ? null : String(plan.id), with: null, sort: null })}
        >
          {t('frequencies.plans.actions.compare')}
          <span className="visually-hidden"> {title}</span>
        </button>
        <ActionButton kind="try" title={title} onClick={onTry} />
        <ExportMenu
          name={title}
          fileOf={(format) => ({ address: `${mount}/api/frequency-plans/${plan.id}/export.csv?format=${format}` })}
        />
        <PlanEdits {...{ plan, title, onAsk, onDone }} />
      </span>
      {isOpen ? <PlanComparison plan={plan} others={others} /> : null}
    </li>
  )
}

type PlanEditsProps = Pick<PlanItemProps, 'plan' | 'onAsk' | 'onDone'> & { readonly title: string }

function PlanEdits({ plan: { id, active }, title, onAsk, onDone }: PlanEditsProps) {
  const { api } = useServices()
  const { send } = useRequest()
  const mayOperate = useMay('operate')
  const showMessage = useShowMessage()
  const showUndoable = useShowUndoable()
  if (!mayOperate) return null
  const write = async (
    done: (plan: FrequencyPlanBody) => string,
    request: () => Promise<ApiResponse<FrequencyPlanBody>>,
  ) => {
    const response = await send(request)
    if (response === null) return
    if (!response.ok) return showMessage({ text: response.problem.detail, tone: 'alarm' })
    showUndoable(done(response.body), [response.undoId])
    await onDone()
  }
  const use = () =>
    write(
      () => t('frequencies.plans.used', { title }),
      () => api.write('POST', `/api/frequency-plans/${id}/use`, undefined, 'object'),
    )
  const duplicate = () =>
    write(
      (copy) => t('frequencies.plans.stored', { title: plainText(copy.title) }),
      () => api.write('POST', `/api/frequency-plans/${id}/duplicate`, {}, 'object'),
    )
  return (
    <>
      {active ? null : <ActionButton kind="use" title={title} onClick={use} />}
      <ActionButton kind="edit" title={title} onClick={() => onAsk('edit')} />
      <ActionButton kind="duplicate" title={title} onClick={duplicate} />
      <ActionButton kind="remove" title={title} onClick={() => onAsk('remove')} />
    </>
  )
}

interface ActionButtonProps {
  readonly kind: 'try' | 'use' | 'duplicate' | PlanAction
  readonly title: string
  onClick(): void
}

function ActionButton({ kind, title, onClick }: ActionButtonProps) {
  return (
    <button type="button" className="choice" onClick={onClick}>
      {t(`frequencies.plans.actions.${kind}`)}
      <span className="visually-hidden"> {title}</span>
    </button>
  )
}
