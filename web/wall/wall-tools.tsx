import { useState } from 'react'
import { t } from '../app/i18n.ts'
import { useMay } from '../app/session.ts'
import { densities, details, themes, type View } from '../app/view.ts'
import { NewGroup } from '../parts/channels/dialogs.ts'
import { Choice } from '../parts/forms/choice.tsx'
import type { Command } from '../parts/toolbar/commands.ts'
import { GroupChoices } from '../parts/toolbar/group-choices.tsx'
import { CommandButtons, NotifyButton } from '../parts/toolbar/tools.tsx'

interface WallToolsProps {
  readonly view: View
  readonly commands: readonly Command[]
  change(view: Partial<View>): void
}

export function WallTools({ view, commands, change }: WallToolsProps) {
  return (
    <section className="wall-tools" aria-label={t('live.toolbar.label')}>
      <GroupChooser view={view} change={change} />
      <div className="wall-choices">
        <Choice
          isLabelled={true}
          label={t('wall.density')}
          value={view.density}
          values={densities}
          nameOf={(value) => t(`wall.densities.${value}`)}
          onChoice={(density) => change({ density })}
        />
        <Choice
          isLabelled={true}
          label={t('wall.detail')}
          value={view.detail === 'full' ? 'auto' : view.detail}
          values={details.filter((value) => value !== 'full')}
          nameOf={(value) => t(`wall.details.${value}`)}
          onChoice={(detail) => change({ detail })}
        />
        <Choice
          isLabelled={true}
          label={t('live.toolbar.theme')}
          value={view.theme}
          values={themes}
          nameOf={(value) => t(`live.themes.${value}`)}
          onChoice={(theme) => change({ theme })}
        />
      </div>
      <div className="wall-choices">
        <CommandButtons commands={commands} />
        <NotifyButton />
      </div>
    </section>
  )
}

function GroupChooser({ view, change }: Pick<WallToolsProps, 'view' | 'change'>) {
  const mayEdit = useMay('operate')
  const [isCreating, setCreating] = useState(false)
  return (
    <div className="wall-choices">
      <GroupChoices className="wall-choices" {...{ view, change }} />
      {mayEdit ? (
        <button type="button" className="choice" data-tone="quiet" onClick={() => setCreating(true)}>
          {t('live.newGroup')}
        </button>
      ) : null}
      {isCreating ? (
        <NewGroup
          view={view}
          onCreated={({ id }) => change({ group: id, q: '', state: 'all' })}
          onClose={() => setCreating(false)}
        />
      ) : null}
    </div>
  )
}
