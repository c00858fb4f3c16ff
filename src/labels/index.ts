export { type LabelsAppOptions, labelsApp } from './app.ts';
export type { Label } from './label.ts';
export type { LabelOperation } from './label-operation.ts';
export { buildLabelRequest, type LabelRequestOptions } from './label-request.ts';
export { type LabelCreated, labelCreated } from './label-response.ts';
export { LabelTable } from './label-table.ts';
export { type CreateLabel, type LabelsRouterOptions, labelsRouter } from './router.ts';
