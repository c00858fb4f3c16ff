import express from 'express';
import * as core from 'express-idempotent';
import * as labels from 'express-idempotent/labels';
import * as sqlite from 'express-idempotent/sqlite';
import * as testing from 'express-idempotent/testing';
import { report } from './report.cjs';

await report({ express, core, labels, sqlite, testing });
