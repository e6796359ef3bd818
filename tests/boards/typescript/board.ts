// The types of the shipped boards, from `@grafana/schema`. A test appends the boards themselves.
import type { AnnotationQuery, Dashboard, VariableModel } from '@grafana/schema';
import type * as StateTimeline from '@grafana/schema/dist/esm/raw/composable/statetimeline/panelcfg/x/StateTimelinePanelCfg_types.gen';
import type * as Stat from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen';
import type * as Table from '@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen';
import type * as TimeSeries from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';

// JSON has the values of enumerations, not their names.
type Json<T> = T extends string ? `${T}` : T extends object ? { [K in keyof T]: Json<T[K]> } : T;

// Properties that the SDK writes, and that the package does not declare.
type Variable = VariableModel & { auto?: boolean; auto_min?: string; auto_count?: number };
type Annotation = AnnotationQuery & { expr?: string };

type Board = Json<Omit<Dashboard, 'templating' | 'annotations'>> & {
  templating: { list: Json<Variable>[] };
  annotations: { list: Json<Annotation>[] };
};

// Type of a panel -> its options, and its own settings of fields.
type Panels = {
  stat: { options: Stat.Options; custom: object };
  table: { options: Table.Options; custom: Table.FieldConfig };
  timeseries: { options: TimeSeries.Options; custom: TimeSeries.FieldConfig };
  'state-timeline': { options: StateTimeline.Options; custom: StateTimeline.FieldConfig };
};
type Options<K extends keyof Panels> = Json<Partial<Panels[K]['options']>>;
type Custom<K extends keyof Panels> = Json<Partial<Panels[K]['custom']>>;

