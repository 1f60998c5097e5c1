import type { FrequencyPlanBody } from '../../src/contract/frequency-plans.ts'
import type { ShowBody } from '../../src/contract/shows.ts'
import { useServices } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useResource } from '../app/resource.ts'
import { Removal } from '../parts/dialogs/dialog.tsx'
import { FormDialog } from '../parts/dialogs/form-dialog.tsx'
import { changedFields } from '../parts/forms/entries.ts'
import { Field, SelectField } from '../parts/forms/field.tsx'
import { useLatest } from '../parts/forms/use-latest.ts'

export type PlanAction = 'edit' | 'remove'

interface PlanDialogProps {
  readonly kind: PlanAction
  readonly plan: FrequencyPlanBody
  onDone(): Promise<void>
  onClose(): void
}

export function PlanDialog({ kind, plan, onDone, onClose }: PlanDialogProps) {
  if (kind === 'edit') return <EditPlan {...{ plan, onDone, onClose }} />
  const title = plainText(plan.title)
  return (
    <Removal
      title={t('frequencies.plans.removeTitle', { title })}
      action={t('frequencies.plans.actions.remove')}
      done={t('frequencies.plans.removed', { title })}
      path={`/api/frequency-plans/${plan.id}/`}
      record={plan}
      {...{ onDone, onClose }}
    >
      <p>{t(plan.active ? 'frequencies.plans.removeActive' : 'frequencies.plans.removeText')}</p>
    </Removal>
  )
}

/** Without it, a plan is for no show. */
const noShow = ''

function EditPlan({ plan, onDone, onClose }: Omit<PlanDialogProps, 'kind'>) {
  const { api } = useServices()
  const address = `/api/frequency-plans/${plan.id}/` as const
  const { body: shows } = useResource('/api/shows/', 'list', ['show'])
  const latest = useLatest('/api/frequency-plans/', plan, ['frequency_plans'])
  return (
    <FormDialog
      title={t('frequencies.plans.editTitle', { title: plainText(plan.title) })}
      action={t('settings.save')}
      edit={{ address, record: plan, latest }}
      send={(values, { before, version }) =>
        api.write('PATCH', address, changedFields(bodyOf(before), bodyOf(values)), 'object', version)
      }
      done={({ title }) => t('frequencies.plans.edited', { title: plainText(title) })}
      {...{ onDone, onClose }}
    >
      {({ title, show_id }) => (
        <>
          <Field
            name="title"
            label={t('frequencies.plans.title')}
            defaultValue={title}
            autoComplete="off"
            maxLength={255}
            required={true}
          />
          <SelectField
            name="show_id"
            label={t('frequencies.plans.show')}
            defaultValue={show_id ?? noShow}
            options={[
              { value: noShow, text: t('frequencies.plans.noShow') },
              ...listShows(shows ?? [], show_id).map(({ id, title }) => ({
                value: String(id),
                text: plainText(title),
              })),
            ]}
          />
        </>
      )}
    </FormDialog>
  )
}

function bodyOf(values: FormData) {
  const show = String(values.get('show_id') ?? noShow)
  return { title: String(values.get('title')), show_id: show === noShow ? null : Number(show) }
}

/** Until the shows are loaded, the show of the plan must be one of the options, so that it is not changed. */
function listShows(shows: readonly Pick<ShowBody, 'id' | 'title'>[], own: number | null) {
  const isListed = own === null || shows.some(({ id }) => id === own)
  return isListed ? shows : [{ id: own, title: String(own) }, ...shows]
}
