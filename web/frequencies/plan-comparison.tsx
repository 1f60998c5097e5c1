import type { FrequencyPlanBody, PlanComparisonBody } from '../../src/contract/frequency-plans.ts'
import { type PlanResult, planResults } from '../../src/contract/values.ts'
import { formatList, formatMegahertz, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useSearch } from '../app/query.ts'
import { useResource } from '../app/resource.ts'
import { slotTitle } from '../app/slot-records.ts'
import { Choice } from '../parts/forms/choice.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { type Column, DataTable } from '../parts/tables/data-table.tsx'

interface PlanComparisonProps {
  readonly plan: FrequencyPlanBody
  readonly others: readonly FrequencyPlanBody[]
}

/** Follows what is tuned. */
export function PlanComparison({ plan, others }: PlanComparisonProps) {
  const [search, change] = useSearch()
  const otherId = new URLSearchParams(search).get('with')
  const other = others.find(({ id }) => String(id) === otherId) ?? null
  const compared = `/api/frequency-plans/${plan.id}/compare/` as const
  const address = other === null ? compared : (`${compared}?with=${other.id}` as const)
  const resource = useResource(address, 'object', ['frequencies', 'frequency_plans', 'slot_records'])
  return (
    <section
      className="frequencies-section"
      aria-label={t('frequencies.plans.comparison', { title: plainText(plan.title) })}
    >
      <Choice
        label={t('frequencies.plans.compareWith')}
        isLabelled={true}
        value={other === null ? '' : String(other.id)}
        values={['', ...others.map(({ id }) => String(id))]}
        nameOf={(id) =>
          plainText(others.find((candidate) => String(candidate.id) === id)?.title ?? t('frequencies.plans.tuned'))
        }
        onChoice={(id) => change({ with: id === '' ? null : id })}
      />
      <Loaded resource={resource}>
        {(comparison) => (
          <>
            <p role="status">{totalsText(comparison)}</p>
            <DataTable
              caption={t('frequencies.plans.comparison', { title: plainText(plan.title) })}
              columns={comparison.with === null ? tunedColumns : planColumns}
              rows={comparison.carriers}
              idOf={({ id }) => id}
            />
            {comparison.others.length === 0 ? null : <p className="box-note">{othersText(comparison)}</p>}
          </>
        )}
      </Loaded>
    </section>
  )
}

type Compared = PlanComparisonBody['carriers'][number]

const tones = { same: 'good', off: 'calm', differs: 'waiting', missing: 'waiting' } as const

const tunedColumns = columnsOf('tuned')
const planColumns = columnsOf('plan')

function columnsOf(what: 'tuned' | 'plan'): readonly Column<Compared>[] {
  const wordOf = (result: PlanResult) =>
    t(`frequencies.plans.${what === 'tuned' ? 'results' : 'planResults'}.${result}`)
  return [
    {
      ...{ key: 'slot', title: t('frequencies.table.slot'), align: 'end' },
      sortBy: ({ slot }) => slot,
      cell: ({ slot }) => slot ?? t('parts.unknown'),
    },
    {
      ...{ key: 'name', title: t('frequencies.table.name') },
      sortBy: ({ name }) => name,
      cell: ({ name }) => <bdi>{plainText(name ?? t('parts.unknown'))}</bdi>,
    },
    {
      ...{ key: 'planned', title: t('frequencies.plans.planned'), align: 'end' },
      sortBy: ({ planned }) => Number(planned),
      cell: ({ planned }) => formatMegahertz(planned),
    },
    {
      ...{ key: 'tuned', title: t(`frequencies.plans.columns.${what}`), align: 'end' },
      sortBy: ({ tuned }) => (tuned === null ? null : Number(tuned)),
      cell: ({ tuned }) => (tuned === null ? t('parts.unknown') : formatMegahertz(tuned)),
    },
    {
      ...{ key: 'result', title: t('frequencies.plans.result') },
      sortBy: ({ result }) => planResults.indexOf(result),
      cell: ({ result }) => (
        <span className="tag" data-tone={tones[result]}>
          {wordOf(result)}
        </span>
      ),
    },
  ]
}

/** For example `36 as planned · 3 differ · 1 off`. */
function totalsText({ totals }: PlanComparisonBody): string {
  return planResults
    .toReversed()
    .filter((result) => totals[result] > 0)
    .map((result) => t(`frequencies.plans.totals.${result}`, { count: totals[result] }))
    .join(' · ')
}

function othersText({ others }: PlanComparisonBody): string {
  const names = others.map(({ slot, name, mhz }) => t('frequencies.nameWithMhz', { name: nameOf(slot, name), mhz }))
  return t('frequencies.plans.others', { count: others.length, names: formatList(names) })
}

function nameOf(slot: number | null, name: string | null): string {
  const title = plainText(name ?? '')
  return slot === null ? title : slotTitle({ slot, title })
}
